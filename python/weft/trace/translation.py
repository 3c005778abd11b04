# SPDX-License-Identifier: LGPL-2.1-only
"""Translation of timed traces (OTF2, DUMPI) to weft's own form, in a separate process.

The reading libraries write to stderr, and DUMPI's library ends the process if a file is damaged.
The process writes its result to a file: the lines, or an error message for the user.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from weft.base.errors import WeftError, printable
from weft.base.extras import need
from weft.trace.dumpi import read_dumpi
from weft.trace.otf2 import read_otf2
from weft.trace.recording import Recording, packed

_READERS: dict[str, Callable[[Path], Recording]] = {"OTF2": read_otf2, "DUMPI": read_dumpi}
_CHILD = "from weft.trace.translation import main; main()"
_RESULT, _LINES = "result.json", "calls.gz"


def translate(kind: str, path: Path) -> tuple[int, bytes]:
    """Return the number of ranks and the compressed lines of an OTF2 or DUMPI trace."""
    need("traces")
    with tempfile.TemporaryDirectory(prefix="weft-trace-") as folder:
        child = subprocess.run(
            [sys.executable, "-c", _CHILD, kind, str(path), folder],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        result = Path(folder) / _RESULT
        if not result.is_file():
            raise WeftError(
                f"trace: {path} cannot be read: the library for {kind} ended{_reason(child)};"
                " check that the trace is whole"
            )
        found = json.loads(result.read_text(encoding="utf-8"))
        if "message" in found:
            raise WeftError(found["message"])
        return int(found["ranks"]), (Path(folder) / _LINES).read_bytes()


def _reason(child: subprocess.CompletedProcess[bytes]) -> str:
    """Return the signal that ended a process, and the last line of its output."""
    said = child.stderr.decode(errors="replace").strip().splitlines()
    last = f" ({printable(said[-1][:200])})" if said else ""
    name = f" by {signal.Signals(-child.returncode).name}" if child.returncode < 0 else ""
    return name + last


def main() -> None:
    """Translate a trace; the arguments are its kind, its path and a directory for the result."""
    kind, path, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    try:
        recording = _READERS[kind](path)
        (folder / _LINES).write_bytes(packed(path, recording))
        result: dict[str, object] = {"ranks": len(recording.ranks)}
    except WeftError as error:
        result = {"message": str(error)}
    partial = folder / f"{_RESULT}.partial"
    partial.write_text(json.dumps(result), encoding="utf-8")
    os.replace(partial, folder / _RESULT)
