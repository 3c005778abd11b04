# SPDX-License-Identifier: LGPL-2.1-only
"""Paths of installed parts: the compiled core's directory contains everything that is not Python.

Names chosen by users enter paths only through `file_name`.
"""

import re
from pathlib import Path

from weft import _core
from weft.base.errors import WeftError, printable

_FILE_NAME = re.compile(r"\w[\w .+@=,#-]*")
_MOST_BYTES = 100
"""Limit on a user's name, in bytes: a file name with affixes is limited to 255 (POSIX NAME_MAX)."""


def file_name(where: str, name: str) -> str:
    """Return a user's name if a file name may contain it. Raises `WeftError` otherwise."""
    if not _FILE_NAME.fullmatch(name) or len(name.encode(errors="replace")) > _MOST_BYTES:
        raise WeftError(
            f"{where}: found '{printable(name[:60])}', which becomes a file name; allowed"
            " are letters, digits, spaces and _ . + - @ = , #, first a letter, a digit or _, and up"
            f" to {_MOST_BYTES} bytes"
        )
    return name


def installed(*parts: str) -> Path:
    """Return the path of an installed file, which must exist."""
    path = Path(_core.__file__).parent.joinpath(*parts)
    if not path.exists():
        raise WeftError(
            f"installation: {path} is missing; install weft again (in a checkout: `make build`)"
        )
    return path


def simgrid_prefix() -> Path:
    """Return SimGrid's prefix: inside the package in wheels, else the prefix of the build."""
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
    """Return the folder of documentation pages; in a checkout, the checkout's."""
    checkout = Path(__file__).resolve().parents[3] / "docs"
    return checkout if (checkout / "guide.md").exists() else installed("docs")
