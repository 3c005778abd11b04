# SPDX-License-Identifier: LGPL-2.1-only
"""Entry point: every error becomes one line of text and an exit status, never a traceback."""

import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import click

from weft.base.errors import USER_ERROR, Interrupted, WeftError, printable
from weft.base.extras import missing
from weft.base.process import no_more_tasks, raise_on_signals

_BROKEN_PIPE = 141
_STDOUT = "standard output"


class _StandardOutput(io.FileIO):
    """Standard output whose errors are identifiable as such."""

    def write(self, data: Any, /) -> int:
        """Write as other files do."""
        try:
            return super().write(data)
        except OSError as error:
            error.filename = _STDOUT
            raise


def main() -> None:
    """Run the command line and exit."""
    _open_standard_streams()
    sys.exit(_guarded(_run))


def _open_standard_streams() -> None:
    """Reopen streams that the caller closed, so that no other file gets their descriptors."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w"))
    sys.stdout.flush()
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(_StandardOutput(sys.stdout.fileno(), "w", closefd=False)),
        encoding=sys.stdout.encoding,
        errors=sys.stdout.errors,
        line_buffering=sys.stdout.isatty(),
    )


def _run() -> int:
    from weft.cli.root import weft

    status = weft.main(prog_name="weft", standalone_mode=False)
    sys.stdout.flush()
    return status if isinstance(status, int) else 0


def _guarded(run: Callable[[], int]) -> int:
    try:
        raise_on_signals()
        return run()
    except click.ClickException as error:
        return _say(_click_message(error), USER_ERROR)
    except WeftError as error:
        return _say(str(error), error.exit_status)
    except Interrupted as error:
        return _say("interrupted", 128 + error.signum)
    except BrokenPipeError:
        _close_stdout()
        return _BROKEN_PIPE
    except BlockingIOError:  # EAGAIN: process limit
        return _say(str(no_more_tasks("another process cannot be started")), USER_ERROR)
    except OSError as error:
        return _say(_refusal(error), USER_ERROR)
    except ImportError as error:
        return _say(_import_message(error), USER_ERROR)
    except Exception as error:
        if not _is_core_error(error):
            raise
        return _say(str(error), USER_ERROR)


def _refusal(error: OSError) -> str:
    """Return the refused operation and the reason."""
    reason = error.strerror or str(error)
    if error.filename == _STDOUT:
        _close_stdout()
        return f"{_STDOUT}: cannot be written: {reason}; free some space, or redirect it"
    if error.filename:
        return f"system error: {reason} ({os.fsdecode(error.filename)})"
    if not _has_directory():
        return "the working directory no longer exists; change to another one"
    return f"system error: {reason}"


def _has_directory() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _import_message(error: ImportError) -> str:
    extra = missing(error)
    if extra is not None:
        return str(extra)
    return f"installation: {error}; install weft again (in a checkout: `make build`)"


def _is_core_error(error: Exception) -> bool:
    from weft import _core

    return isinstance(error, _core.UserError)


def _click_message(error: click.ClickException) -> str:
    message = error.format_message()
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None:
        return message
    return f"{message.removesuffix('.')}; see `{context.command_path} --help`"


def _say(message: str, status: int) -> int:
    """Print an error message unless it is empty; ignore a closed standard error."""
    with suppress(OSError):
        if message:
            print(f"weft: {printable(message)}", file=sys.stderr, flush=True)
    return status


def _close_stdout() -> None:
    """Close standard output, so that Python does not report a broken pipe again when it flushes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
