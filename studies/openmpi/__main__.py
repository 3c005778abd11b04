# SPDX-License-Identifier: LGPL-2.1-only
"""`make conformance-openmpi`: counts Open MPI's messages, compares, and writes the tables."""

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from studies.messages.comparison import Library, Setting, compare
from studies.openmpi.setups import HAN, SETUPS

VERSION = "4.1"


def main() -> int:
    """Run, compare, write; return 1 if a message differs."""
    head = f"""\
# The messages that the collectives of {open_mpi()} send, by its own component
# `monitoring`: their number, their bytes, and the checksum (CRC-32) of the lines
# `SENDER RECEIVER MESSAGES BYTES` of all pairs in order. Written by
# `make conformance-openmpi`; uneven: rank r has (7 r modulo 4) times the count.
"""
    library = Library(
        head,
        compile=["mpicc", str(Path(__file__).with_name("monitoring.c"))],
        launch=launch,
        # Permit running as root, as in a container.
        environment={"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
    )
    setups = [one for one in SETUPS if one != HAN or os.geteuid() == 0]
    if HAN not in setups:
        print(f"{HAN.table.name} stays as it is: only root can make hosts of this machine")
    return compare(library, setups)


def launch(setting: Setting) -> list[str]:
    """Return the launcher command for a setting, on hosts emulated by host.sh."""
    command = ["mpirun", "-np", str(setting.ranks), "--mca", "pml_monitoring_enable", "1"]
    host_of_ranks = setting.host_of_ranks()
    if host_of_ranks is None:
        return [*command, "--oversubscribe"]
    slots = Counter(host_of_ranks)
    hosts = ",".join(f"host{host}:{slots[host]}" for host in range(setting.hosts))
    return [*command, "--host", hosts, "--map-by", "node" if setting.in_turn else "slot"]


def open_mpi() -> str:
    """Return this machine's version of Open MPI; exit if it is missing or of another version."""
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


if __name__ == "__main__":
    sys.exit(main())
