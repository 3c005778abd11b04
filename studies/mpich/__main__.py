# SPDX-License-Identifier: LGPL-2.1-only
"""`make conformance-mpich`: counts MPICH's messages, compares, and writes the table."""

import itertools
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from studies.messages.cases import REDUCTIONS, Case, calls
from studies.messages.comparison import Library, Setting, Setup, compare
from studies.study import DOCS

VERSION = "4.0"
RANKS = (2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 32, 33, 64)
SHARED = (
    *(Setting(3, 1), Setting(5, 2), Setting(6, 3), Setting(8, 2), Setting(8, 1), Setting(10, 3)),
    *(Setting(16, 4), Setting(17, 4), Setting(6, 2, True), Setting(11, 3, True)),
    Setting(16, 4, True),
)
# Element counts on both sides of MPICH's switch-over points, for four-byte elements.
COUNTS = (1, 2, 3, 7, 16, 40, 64, 65, 100, 256, 512, 513, 1000, 3072, 3073, 8192, 8193, 30000)
LARGE_COUNTS = (131072, 131073)
NONBLOCKING_COUNTS = (1, 3, 40, 512, 513, 1024, 3071, 3072, 8192, 8193, 30000, 131071, 131072)


def grid(setting: Setting) -> Iterator[Case]:
    """Yield the calls for a setting."""
    yield from calls(setting.ranks, COUNTS + LARGE_COUNTS, NONBLOCKING_COUNTS)
    for prefix, collective, count in itertools.product(("", "i"), REDUCTIONS, (1, 3, 40, 1000)):
        yield Case(prefix + collective, count, "int", 0, "own", 0)


def launch(setting: Setting) -> list[str]:
    """Return the launcher command for a setting."""
    command = ["mpiexec.hydra", "-n", str(setting.ranks)]
    if not setting.hosts:
        return [*command, "-genv", "MPIR_CVAR_NOLOCAL", "1"]
    by_block = "0" if setting.in_turn else "1"
    return [
        *(*command, "-genv", "MPIR_CVAR_NUM_CLIQUES", str(setting.hosts)),
        *("-genv", "MPIR_CVAR_CLIQUES_BY_BLOCK", by_block),
    ]


DEFAULTS = Setup(
    "mpich-4",
    DOCS / "mpich-messages.csv.gz",
    [*(Setting(ranks) for ranks in RANKS), *SHARED],
    grid,
)


def main() -> int:
    """Run, compare, write; return 1 if a message differs."""
    head = f"""\
# The messages that the collectives of {mpich()} send, counted where it hands them to UCX:
# their number, their bytes, and the checksum (CRC-32) of the lines
# `SENDER RECEIVER MESSAGES BYTES` of all pairs in order. Written by
# `make conformance-mpich`; 8/2: 8 ranks in rows on two hosts, 8%2: in turn; uneven: rank r
# has (7 r modulo 4) times the count.
"""
    source = str(Path(__file__).with_name("ucx.c"))
    library = Library(head, ["mpicc.mpich", source, "-lucp", "-ldl"], launch)
    return compare(library, [DEFAULTS])


def mpich() -> str:
    """Return this machine's version of MPICH; exit if it is missing or unsuitable."""
    if not shutil.which("mpicc.mpich") or not shutil.which("mpichversion"):
        sys.exit(
            "conformance-mpich: MPICH is not installed; on Debian:"
            " apt-get install mpich libmpich-dev libucx-dev"
        )
    said = subprocess.run(["mpichversion"], text=True, capture_output=True, check=False)
    words = dict(line.partition(":")[::2] for line in said.stdout.splitlines())
    version = words.get("MPICH Version", "").strip()
    device = words.get("MPICH Device", "").strip()
    if not version.startswith(VERSION) or device != "ch4:ucx":
        sys.exit(
            f"conformance-mpich: found MPICH {version or 'of no version'}, {device or 'no device'};"
            f" needed is {VERSION} with ch4:ucx"
        )
    return f"MPICH {version}"


if __name__ == "__main__":
    sys.exit(main())
