# SPDX-License-Identifier: LGPL-2.1-only
"""Entry points: `weft`, and each compiler as a single-word command for build systems.

A build calls its compiler hundreds of times, so this path imports only modules that Python has
already imported.
"""

import importlib.util
import os
import sys

_COMPILERS = ("cc", "cxx", "f90")
_HELP = ("--help", "-h")


def main() -> None:
    """Run the command `weft`."""
    if len(sys.argv) > 2 and sys.argv[1] in _COMPILERS and sys.argv[2] not in _HELP:
        _compile(sys.argv[1], sys.argv[2:])
    from weft.cli.main import main as command_line

    command_line()


def cc() -> None:
    """Run the command `weft-cc`."""
    _compile_as_one_word("cc")


def cxx() -> None:
    """Run the command `weft-cxx`."""
    _compile_as_one_word("cxx")


def f90() -> None:
    """Run the command `weft-f90`."""
    _compile_as_one_word("f90")


def _compile_as_one_word(language: str) -> None:
    sys.argv[1:1] = [language]
    main()


def _compile(language: str, arguments: list[str]) -> None:
    """Exec the compiler; return if it is missing, so that the command line can report it."""
    core = importlib.util.find_spec("weft._core")
    if core is None or core.origin is None:
        return
    script = os.path.join(os.path.dirname(core.origin), "weft-compiler")
    if os.access(script, os.X_OK):
        os.execv(script, [script, language, *arguments])
