# SPDX-License-Identifier: LGPL-2.1-only
"""Extras of the installation: packages that runs and tables do without, by what needs them.

`pip install weft` leaves them out; `weft[testbed]`, `weft[report]` and the like bring them, and
`weft[all]` brings all (pyproject.toml). Modules that need one import it where they use it, or are
themselves imported there; what a user gets where one is missing is the message of `missing`.
"""

from importlib.util import find_spec

from weft.base.errors import WeftError

PACKAGES = {
    "calibrate": ("scipy",),
    "testbed": ("finsy", "google", "grpc", "lark", "ortools"),
    "cluster": ("parsl", "psutil"),
    "report": ("altair", "matplotlib", "PIL", "vl_convert"),
    "notebook": ("IPython", "ipykernel"),
}
"""By extra, the packages that it brings, by the names under which they are imported."""
_EXTRA_OF = {package: extra for extra, packages in PACKAGES.items() for package in packages}


def missing(error: ImportError) -> WeftError | None:
    """Return the message for an import that failed; None where no extra has the module."""
    package = (error.name or "").partition(".")[0]
    extra = _EXTRA_OF.get(package)
    return None if extra is None else _message(package, extra)


def need(extra: str) -> None:
    """Prove before long work that an extra's packages can be found.

    Raises:
        WeftError: One is missing.
    """
    for package in PACKAGES[extra]:
        if find_spec(package) is None:
            raise _message(package, extra)


def _message(package: str, extra: str) -> WeftError:
    return WeftError(
        f"{package} is not installed: this needs the extra '{extra}': pip install 'weft[{extra}]'"
    )
