# SPDX-License-Identifier: LGPL-2.1-only
"""Checks a program to be spawned by ranks; run as a module by the simulation.

    python -m weft.runs.jobs.spawned {"privatize": true, "config": []} FILE

`launch.py` writes the command. The reply on standard output is a JSON object: how ranks load the
program, or why they cannot load it.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from weft.base.errors import WeftError
from weft.runs import launch
from weft.runs.privatization.libraries import fortran_runtime, uses_cxx_streams
from weft.runs.request import Request
from weft.runs.simgrid import SimGrid


def check(file: str, *, privatize: bool, config: list[str]) -> dict[str, Any]:
    """Return how ranks load the program.

    Raises:
        WeftError: The program cannot run.
    """
    simgrid = SimGrid()
    request = Request.of(program=file, ranks=1, privatize=privatize, config=config)
    program = launch.program_of(file, replays=False)
    libraries = launch.libraries_of(request, program, simgrid)
    binaries = [program, *(library.path for library in libraries)]
    return {
        "file": str(program.absolute()),
        "copies": launch.needs_copies(request, program, libraries),
        "private_libraries": [f"{library.name}={library.path}" for library in libraries],
        "fortran_runtime": fortran_runtime(
            program, simgrid.launcher, simgrid.environment(os.environ)
        ),
        "cxx_streams": any(map(uses_cxx_streams, binaries)),
    }


def main() -> None:
    """Answer the query on the command line."""
    try:
        answer = check(str(Path(sys.argv[2])), **json.loads(sys.argv[1]))
    except WeftError as error:
        answer = {"error": error.message.removeprefix("program: ")}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
