# SPDX-License-Identifier: LGPL-2.1-only
"""Extras: groups of packages that only some commands need, and what other distributions add.

`pip install weft` leaves them out: runs and tables do without. `weft[testbed]`, `weft[report]` and
others install them, and `weft[all]` installs all (pyproject.toml). Modules that need one import it
lazily, or are themselves imported lazily; if it is missing, users get the message of `missing`.

A distribution adds commands and calls by registering an `Extension` as an entry point of the group
`weft.extensions`; weft imports nothing of it by name. Entry points are read only for names that
weft itself does not have, since finding them takes as long as a short command runs.
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
"""Beginnings of the names of commands and calls that an extra adds, for messages without it."""


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


# ---- Extensions


@dataclass(frozen=True, kw_only=True)
class Extension:
    """Names that a distribution adds."""

    commands: Mapping[str, tuple[str, str]]
    """Commands of `weft`: module and summary by name."""
    calls: Mapping[str, Sequence[str]]
    """Names of the API by module."""


class MissingExtensionError(WeftError, AttributeError):
    """A name of an extension that is not installed: no attribute, with advice what to install."""


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
    """Return the commands that extensions add to `weft`: module and summary by name."""
    return {name: one for added in extensions() for name, one in added.commands.items()}


def calls() -> dict[str, str]:
    """Return the names that extensions add to the API, with their modules."""
    return {
        name: module
        for added in extensions()
        for module, names in added.calls.items()
        for name in names
    }


def find_call(name: str) -> object:
    """Return a name of the API that an extension adds.

    Raises:
        AttributeError: There is none; a `MissingExtensionError` if an extra adds it.
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
