# SPDX-License-Identifier: LGPL-2.1-only
"""Extras: groups of packages that only some commands need, and extensions by other distributions.

`pip install weft` omits them, as runs and tables do not need them. `weft[testbed]`, `weft[report]`
and other extras install them, and `weft[all]` installs all (pyproject.toml). Modules that need such
a package import it lazily, or are themselves imported lazily; if it is missing, users get the error
from `missing`.

A distribution adds commands and calls by registering an `Extension` as an entry point of the group
`weft.extensions`; weft imports no extension by name. It reads entry points only for names that it
does not define itself, since finding them takes as long as a short command.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from weft.base.errors import WeftError

PACKAGES = {
    "calibrate": ("scipy",),
    "testbed": ("weft_testbed",),
    "cluster": ("parsl", "psutil"),
    "report": ("altair", "matplotlib", "PIL", "vl_convert"),
    "traces": ("otf2", "pydumpi"),
    "notebook": ("IPython", "ipykernel"),
}
"""Import names of the packages that each extra installs."""
_EXTRA_OF = {package: extra for extra, packages in PACKAGES.items() for package in packages}

GROUP = "weft.extensions"
_ADDED_BY: Mapping[str, Sequence[str]] = {"testbed": ("testbed", "Testbed", "P4Switch")}
"""Name prefixes of the commands and calls that an extra adds, for error messages without the extra.
"""


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
    if (missing := lacking(extra)) is not None:
        raise missing


def lacking(extra: str) -> WeftError | None:
    """Return the error for an extra's first package that is not installed, or None."""
    for package in PACKAGES[extra]:
        if find_spec(package) is None:
            return _message(package, extra)
    return None


def _message(package: str, extra: str) -> WeftError:
    return WeftError(
        f"{package} is not installed: this needs the extra '{extra}': pip install 'weft[{extra}]'"
    )


# ---- Extensions


@dataclass(frozen=True, kw_only=True)
class Extension:
    """Names that a distribution adds."""

    commands: Mapping[str, tuple[str, str]]
    """Commands of `weft` by name: module and summary."""
    calls: Mapping[str, Sequence[str]]
    """Names of the API by module."""


class MissingExtensionError(WeftError, AttributeError):
    """AttributeError for a name of an extension that is not installed, with installation advice."""


@cache
def extensions() -> tuple[Extension, ...]:
    """Return the installed extensions."""
    from importlib.metadata import entry_points

    found = []
    for one in entry_points(group=GROUP):
        try:
            found.append(one.load())
        except ImportError:  # its files were removed without pip
            continue
    return tuple(found)


def commands() -> dict[str, tuple[str, str]]:
    """Return the commands that extensions add to `weft`, by name: module and summary."""
    return {name: one for added in extensions() for name, one in added.commands.items()}


def calls() -> dict[str, str]:
    """Return the modules of the names that extensions add to the API, by name."""
    return {
        name: module
        for added in extensions()
        for module, names in added.calls.items()
        for name in names
    }


def find_call(name: str) -> object:
    """Return a name of the API that an extension adds.

    Raises:
        AttributeError: No installed extension adds it; a `MissingExtensionError` if an extra would.
    """
    module = calls().get(name)
    if module is not None:
        return getattr(import_module(module), name)
    if (advice := not_installed(name)) is not None:
        raise MissingExtensionError(advice.message)
    raise AttributeError(f"module 'weft' has no attribute '{name}'")


def not_installed(name: str) -> WeftError | None:
    """Return the error for a command or call of an extra that is not installed."""
    for extra, beginnings in _ADDED_BY.items():
        if name.startswith(tuple(beginnings)) and name not in commands():
            return _message(PACKAGES[extra][0], extra)
    return None
