# SPDX-License-Identifier: LGPL-2.1-only
"""`make conformance-openmpi`: Open MPI counts, weft compares, the table is written."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from studies.openmpi.cases import SETUPS, Case, Message, Setup, cases, messages, summary

SOURCE = Path(__file__).with_name("messages.c")
VERSION = "4.1"
# Open MPI wants to be told that it may run as root, as in a container.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def main() -> int:
    """Run, compare, write; 1 where a message differs."""
    version = open_mpi()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "messages"
        # -rdynamic: Open MPI's component calls the program's function in the place of its own.
        subprocess.run(["mpicc", "-O1", "-rdynamic", SOURCE, "-o", program], check=True)
        return 1 if sum(compare(setup, program, version) for setup in SETUPS) else 0


def compare(setup: Setup, program: Path, version: str) -> int:
    """Write a setup's table; return how many of its calls have other messages in weft."""
    lines = [
        f"# The messages that the collectives of {version} send, by its own component",
        "# `monitoring`: their number, their bytes, and the checksum (CRC-32) of the lines",
        "# `SENDER RECEIVER MESSAGES BYTES` of all pairs in order. Written by",
        "# `make conformance-openmpi`; uneven: rank r has (7 r modulo 4) times the count.",
        "ranks,call,count,type,root,operation,uneven,messages,bytes,crc32",
    ]
    different = 0
    print(setup.table.name)
    for ranks in setup.ranks:
        grid = list(cases(setup, ranks))
        measured = measure(setup, program, ranks, grid)
        wrong = [one for one in grid if measured[one] != messages(setup, one, ranks)]
        different += len(wrong)
        print(f"{ranks} ranks: {len(grid)} calls, {len(wrong)} of other messages", flush=True)
        for case in wrong[:5]:
            print("  ", *case)
        for case in grid:
            lines.append(",".join(map(str, (ranks, *case, *summary(measured[case]).values()))))
    setup.table.write_text("\n".join(lines) + "\n")
    return different


def open_mpi() -> str:
    """Return which Open MPI this machine has; leave where it has none of the right version."""
    if not shutil.which("mpicc") or not shutil.which("mpirun"):
        sys.exit(
            "conformance-openmpi: Open MPI is not installed; on Debian:"
            " apt-get install openmpi-bin libopenmpi-dev"
        )
    said = subprocess.run(["mpirun", "--version"], text=True, capture_output=True, check=False)
    first = said.stdout.partition("\n")[0]
    if not first.startswith("mpirun (Open MPI) " + VERSION):
        sys.exit(f"conformance-openmpi: found {first!r}; needed is Open MPI {VERSION}")
    return first.removeprefix("mpirun (").replace(")", "")


def measure(
    setup: Setup, program: Path, ranks: int, grid: list[Case]
) -> Mapping[Case, list[Message]]:
    """Return the messages that Open MPI sends."""
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "cases"
        listed.write_text("".join(" ".join(map(str, case)) + "\n" for case in grid))
        command = ["mpirun", "-np", str(ranks), "--oversubscribe", *setup.options]
        command += ["--mca", "pml_monitoring_enable", "1"]
        command += [str(program), f"{folder}/out", str(listed)]
        subprocess.run(command, check=True, env={**os.environ, **ENVIRONMENT})
        found: dict[Case, list[Message]] = {case: [] for case in grid}
        for rank in range(ranks):
            for line in Path(f"{folder}/out.{rank}").read_text().splitlines():
                number, *values = map(int, line.split())
                found[grid[number]].append(Message(rank, *values))
        return found


if __name__ == "__main__":
    sys.exit(main())
