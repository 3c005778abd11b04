# SPDX-License-Identifier: LGPL-2.1-only
"""Where the installed parts are: the compiled core's directory holds all that is not Python.

Names that users choose become parts of paths only by `file_name`.
"""

import re
from pathlib import Path

from weft import _core
from weft.base.errors import WeftError, printable

_FILE_NAME = re.compile(r"\w[\w .+@=,#-]*")
_MOST_BYTES = 100
"""A name of a file has 255 at most (POSIX's NAME_MAX on Linux), and what is put around it."""


def file_name(where: str, name: str) -> str:
    """Return a name that a user chose, where it can be one of a file. Raises `WeftError`."""
    if not _FILE_NAME.fullmatch(name) or len(name.encode(errors="replace")) > _MOST_BYTES:
        raise WeftError(
            f"{where}: found '{printable(name[:60])}', which becomes the name of a file; allowed"
            " are letters, digits, spaces and _ . + - @ = , #, first a letter, a digit or _, and up"
            f" to {_MOST_BYTES} bytes"
        )
    return name


def installed(*parts: str) -> Path:
    """Return an installed file, which must be there."""
    path = Path(_core.__file__).parent.joinpath(*parts)
    if not path.exists():
        raise WeftError(
            f"installation: {path} is missing; install weft again (in a checkout: `make build`)"
        )
    return path


def simgrid_prefix() -> Path:
    """Return where SimGrid is: in the package, in wheels, and else where weft was built with it."""
    return Path(_core.__file__).parent / _core.simgrid_prefix


def platform_library() -> Path:
    """Return the library that SimGrid loads as its platform."""
    return installed("libweft.so")


def example(name: str) -> Path:
    """Return the source of a shipped example."""
    return installed("examples", name)


def data(name: str) -> Path:
    """Return a table of measurements."""
    return installed("data", name)


def documents() -> Path:
    """Return the folder of the documentation's pages: the checkout's, where weft runs in one."""
    checkout = Path(__file__).resolve().parents[3] / "docs"
    return checkout if (checkout / "guide.md").exists() else installed("docs")
