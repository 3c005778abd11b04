# SPDX-License-Identifier: LGPL-2.1-only
"""Memory of a run: completed calls release memory, and copies of a communicator share a group.

Each bound lies between the consumption before and after the fix.
"""

from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from tests.support import compiled, simulated
from tests.support.places import ROOT
from tests.support.simulated import Program
from weft.base import process
from weft.runs.simgrid import SimGrid

GROWTH = ROOT / "studies" / "growth" / "growth.c"
MIB = 1 << 20


def peak_bytes(
    place: Path, *work: object, ranks: int, offload: str = "off", options: tuple[str, ...] = ()
) -> int:
    """Return the peak memory of the simulator in a run of the program."""
    command = simulated.weft_command(
        compiled.program(GROWTH),
        *map(str, work),
        ranks=ranks,
        on="tofino-64x64",
        options=("-q", "--offload", offload, "--json", str(place / "r.json"), *options),
    )
    assert simulated.run_command(command).status == 0
    peak: int = simulated.read_record(place / "r.json")["peak_memory_bytes"]
    return peak


def test_the_peak_is_not_that_of_who_starts_the_simulator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel initialises a child's peak RSS with the parent's RSS at the fork."""
    monkeypatch.setattr(process._Meter, "peak", lambda *_: 1 << 40)
    assert 4 * MIB < peak_bytes(tmp_path, "none", 0, 0, ranks=4) < 28 * MIB


@pytest.mark.parametrize("offload", ["stream", "message", "off"])
def test_nothing_is_kept_of_a_call(tmp_path: Path, offload: str) -> None:
    """Previously, `message` leaked 500 bytes per rank and call, 44 MiB in total."""
    assert peak_bytes(tmp_path, "allreduce", 64, 1000, ranks=64, offload=offload) < 28 * MIB


def test_nothing_is_kept_of_messages_between_sockets(tmp_path: Path) -> None:
    """Previously, the flow of each message remained, 80 MiB in total."""
    options = ("--set", "host.preset=xeon-2-socket")
    assert peak_bytes(tmp_path, "allreduce", 64, 1000, ranks=64, options=options) < 32 * MIB


def test_members_of_copies_share_one_group(tmp_path: Path) -> None:
    """SMPI's per-rank tables take 12 bytes per member: 48 of 77 MiB with four copies."""
    assert peak_bytes(tmp_path, "none", 0, 0, "dup", 4, ranks=1024) < 48 * MIB


@pytest.mark.parametrize("way", ["test", "testall", "testany", "wait"])
def test_nothing_is_kept_of_a_message_that_is_tested(
    program: Program, tmp_path: Path, way: str
) -> None:
    """Previously, each message leaked 440 bytes, 50 MiB in total."""
    messages, record = 80000, tmp_path / "r.json"
    options = ("-q", "--json", str(record), "--cfg", "smpi/test:1e-6")
    result = simulated.run_command(
        simulated.weft_command(program("tested.c"), way, str(messages), ranks=2, options=options)
    )
    assert result.stdout == f"{messages // 100 * sum(range(100))}\n"
    assert simulated.read_record(record)["peak_memory_bytes"] < 28 * MIB


def test_a_rank_is_small(tmp_path: Path) -> None:
    """A rank uses a page of stack and 8 KiB, of which 2 KiB belong to the program.

    The figure was 20 KiB with two pages of stack, SMPI's empty queues and retained memory of
    schedules, and 14 KB with the objects that SMPI creates for each rank in advance.
    """
    program = compiled.example("allreduce_latency")

    def peak(ranks: int) -> int:
        place = tmp_path / f"{ranks}.json"
        options = ("--ppn", "16", "-q", "--json", str(place))
        run = simulated.weft_command(
            program, "1024", "3", ranks=ranks, on="fat-tree-65536", options=options
        )
        assert simulated.run_command(run).status == 0
        held: int = simulated.read_record(place)["peak_memory_bytes"]
        return held

    assert peak(8192) - peak(2048) < 6144 * 13 * 1024


def test_deques_of_simgrid_are_its_own() -> None:
    """weft's SimGrid uses smaller deques; a program must not use them in place of its own."""
    library = SimGrid().launcher.parent.parent / "libsimgrid.so"
    if not (library.parent.parent / ".complete").exists():
        pytest.skip("this SimGrid is not weft's")
    with library.open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".dynsym")
        assert isinstance(symbols, SymbolTableSection)
        names = [one.name for one in symbols.iter_symbols()]
    assert not [name for name in names if "5deque" in name or "_Deque_" in name]
