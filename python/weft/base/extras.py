# SPDX-License-Identifier: LGPL-2.1-only
"""Optional dependencies, by the extra that installs them.

`pip install weft` leaves them out: runs and tables do without. `weft[testbed]`, `weft[report]` and
others install them, and `weft[all]` installs all (pyproject.toml). Modules that need one import it
lazily, or are themselves imported lazily; if it is missing, users get the message of `missing`.
"""

from importlib.util import find_spec

from weft.base.errors import WeftError

PACKAGES = {
    "calibrate": ("scipy",),
    "testbed": ("finsy", "google", "grpc", "lark", "ortools"),
    "cluster": ("parsl", "psutil"),
    "report": ("altair", "matplotlib", "PIL", "vl_convert"),
    "traces": ("otf2", "pydumpi"),
    "notebook": ("IPython", "ipykernel"),
}
"""Import names of the packages that each extra installs."""
_EXTRA_OF = {package: extra for extra, packages in PACKAGES.items() for package in packages}


def missing(error: ImportError) -> WeftError | None:
    """Return the error for a failed import, or None if no extra provides the module."""
    package = (error.name or "").partition(".")[0]
    extra = _EXTRA_OF.get(package)
    return None if extra is None else _message(package, extra)


def need(extra: str) -> None:
    """Check before long work that an extra's packages are installed.

    Raises:
        WeftError: A package is missing.
    """
    for package in PACKAGES[extra]:
        if find_spec(package) is None:
            raise _message(package, extra)


def _message(package: str, extra: str) -> WeftError:
    return WeftError(
        f"{package} is not installed: this needs the extra '{extra}': pip install 'weft[{extra}]'"
    )
