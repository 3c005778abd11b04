# SPDX-License-Identifier: LGPL-2.1-only
"""What a run keeps: nothing of calls that have ended, and one table of a communicator's members.

Bounds are a few times below what was kept before, and above what differs from run to run.
"""

from pathlib import Path

import compiled
import pytest
import simulated

GROWTH = compiled.ROOT / "studies" / "growth" / "growth.c"
MIB = 1 << 20


def peak_bytes(place: Path, *work: object, ranks: int, offload: str = "off") -> int:
    """The simulator's memory, of a run of the program."""
    command = simulated.weft_command(
        compiled.program(GROWTH),
        *map(str, work),
        ranks=ranks,
        on="tofino-64x64",
        options=("-q", "--offload", offload, "--json", str(place / "r.json")),
    )
    assert simulated.run_command(command).status == 0
    peak: int = simulated.read_record(place / "r.json")["peak_memory_bytes"]
    return peak


@pytest.mark.parametrize("offload", ["stream", "message", "off"])
def test_nothing_is_kept_of_a_call(tmp_path: Path, offload: str) -> None:
    """With `message` it was 500 bytes of a rank and call, here 28 MiB."""
    few, many = (
        peak_bytes(tmp_path, "allreduce", 64, calls, ranks=64, offload=offload)
        for calls in (100, 1000)
    )
    assert many - few < 6 * MIB


@pytest.mark.parametrize("way", ["dup", "split"])
def test_members_of_a_communicator_share_one_group(tmp_path: Path, way: str) -> None:
    """SMPI's tables, one for each rank, have 12 bytes a member: 48 MiB for four copies."""
    ranks, number = 1024, {"dup": 4, "split": 1}[way]
    without, with_ = (
        peak_bytes(tmp_path, "none", 0, 0, *more, ranks=ranks) for more in ((), (way, number))
    )
    assert with_ - without < {"dup": 16, "split": 12}[way] * MIB
