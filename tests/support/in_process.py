# SPDX-License-Identifier: LGPL-2.1-only
"""Runs the command line in the test process, as starting Python takes longer than most runs.

Process-level behaviour (signals, pipes, exit) is tested in cli/test_main.py.
"""

import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, chdir, contextmanager
from pathlib import Path
from typing import IO
from unittest import mock

from weft.cli.main import main

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# commands that exec another program
_COMPILERS = ("cc", "cxx", "f90")


def can_run(words: Sequence[str]) -> bool:
    """Return true if a command can run in this process."""
    return not words or words[0] not in _COMPILERS


def run(
    words: Sequence[str], environment: Mapping[str, str] | None = None, cwd: Path | None = None
) -> tuple[int, str, str]:
    """Call `weft WORDS`; return its status, its standard output, and its standard error."""
    with ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, environment or {}))
        # Python caches TMPDIR.
        stack.enter_context(mock.patch.object(tempfile, "tempdir", None))
        stack.enter_context(chdir(cwd or Path.cwd()))
        out, err = (stack.enter_context(_redirected(number)) for number in (1, 2))
        stack.enter_context(_input_closed())
        stack.enter_context(_signals_kept())
        stack.enter_context(mock.patch.object(sys, "argv", ["weft", *words]))
        status = _status()
        sys.stdout.flush()
        sys.stderr.flush()
        return status, _content(out), _content(err)


def _status() -> int:
    try:
        main()
    except SystemExit as end:
        assert isinstance(end.code, int)
        return end.code
    raise AssertionError("weft's main function returned instead of leaving")


@contextmanager
def _redirected(number: int) -> Iterator[IO[bytes]]:
    """Redirect standard output or error to a file, for Python and for processes started here."""
    name = {1: "stdout", 2: "stderr"}[number]
    saved = os.dup(number)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), number)
        try:
            with (
                os.fdopen(os.dup(number), "w", encoding="utf-8") as stream,
                mock.patch.object(sys, name, stream),
            ):
                yield file
        finally:
            os.dup2(saved, number)
            os.close(saved)


@contextmanager
def _input_closed() -> Iterator[None]:
    """Provide empty standard input."""
    saved = os.dup(0)
    with open(os.devnull) as nothing, mock.patch.object(sys, "stdin", nothing):
        os.dup2(nothing.fileno(), 0)
        try:
            yield
        finally:
            os.dup2(saved, 0)
            os.close(saved)


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Restore pytest's signal handlers."""
    before = {signum: signal.getsignal(signum) for signum in _SIGNALS}
    try:
        yield
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)


def _content(file: IO[bytes]) -> str:
    """Return the whole content, with line ends normalised as by Python's text files."""
    file.seek(0)
    return file.read().decode().replace("\r\n", "\n")
