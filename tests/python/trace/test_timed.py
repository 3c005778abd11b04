# SPDX-License-Identifier: LGPL-2.1-only
"""Timed traces of other tools as workloads: OTF2 and DUMPI."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import otf2
import pytest

from tests.support.compiled import program
from tests.support.places import TESTS
from tests.support.simulated import read_record, weft
from weft.trace.foreign import read_trace
from weft.trace.recording import RecordedTrace

DUMPI = TESTS / "traces" / "dumpi"
RANKS = 4
TICKS = 1_000_000
"""Ticks per second."""


def lines_of(path: Path, target: Path) -> dict[int, list[str]]:
    """Return the calls of each rank of a trace, without the time between them."""
    trace = read_trace(path)
    trace.unpack(target / "calls.txt")
    found: dict[int, list[str]] = {}
    for line in (target / "calls.txt").read_text().splitlines():
        rank, _, words = line.partition(" ")
        if rank.isdigit() and not words.startswith("sleep"):
            found.setdefault(int(rank), []).append(words)
    return found


def refused(trace: Path) -> str:
    """Return the only error about a path that cannot be replayed."""
    result = weft("replay", str(trace), "-q", "--fabric", "tofino-4")
    assert (result.status, result.stdout) == (2, "")
    (message,) = result.stderr.splitlines()
    return message


def replayed(trace: Path, target: Path, fabric: str = "tofino-4") -> dict[str, Any]:
    """Return the record of a replay."""
    file = target / "replayed.json"
    result = weft("replay", str(trace), "-q", "--json", str(file), "--fabric", fabric)
    assert result.status == 0, result.stderr
    return read_record(file)


# ---- OTF2 ----


class Writer:
    """Archive of some ranks, whose events a test writes in Score-P's form."""

    def __init__(self, folder: Path, ranks: int = RANKS) -> None:
        self.anchor = folder / "traces.otf2"
        self.trace = otf2.writer.Writer(str(folder), timer_resolution=TICKS)
        define = self.trace.definitions
        self._define = define
        node = define.system_tree_node("node")
        self.locations = [
            define.location(
                "thread", group=define.location_group(f"MPI Rank {rank}", system_tree_parent=node)
            )
            for rank in range(ranks)
        ]
        mpi = otf2.Paradigm.MPI
        kind = otf2.GroupType.COMM_LOCATIONS
        define.group("", group_type=kind, paradigm=mpi, members=self.locations)
        self.world = self.communicator(*range(ranks))
        self.now = [0] * ranks
        for rank in range(ranks):
            self.region(rank, "MPI_Init", lambda _: None)

    def communicator(self, *members: int) -> Any:
        """Define a communicator with these ranks."""
        locations = [self.locations[one] for one in members]
        kind = otf2.GroupType.COMM_GROUP
        group = self._define.group(
            "", group_type=kind, paradigm=otf2.Paradigm.MPI, members=locations
        )
        return self._define.comm("", group=group)

    def region(self, rank: int, name: str, write: Callable[[Any], None]) -> None:
        """Write the events of a function that starts 10 us after the last one and takes 5 us."""
        events = self.trace.event_writer_from_location(self.locations[rank])
        region = self._define.region(name)
        self.now[rank] += 10
        events.enter(self.now[rank], region)
        self.now[rank] += 5
        write(events)
        events.leave(self.now[rank], region)

    def collective(self, rank: int, name: str, sent: int, received: int, root: int = 0) -> None:
        """Write a collective on all ranks."""
        operation = getattr(otf2.CollectiveOp, name)

        def write(events: Any) -> None:
            now = self.now[rank]
            events.mpi_collective_begin(now)
            events.mpi_collective_end(now, operation, self.world, root, sent, received)

        self.region(rank, f"MPI_{name.capitalize()}", write)

    def end(self) -> Path:
        """Close the archive."""
        self.trace.close()
        return self.anchor


@pytest.fixture
def writer(tmp_path: Path) -> Writer:
    """Return an archive of four ranks."""
    return Writer(tmp_path / "archive")


# Bytes that Score-P writes for blocks of 16 bytes (scorep_mpi_coll.c), sent and received.
COLLECTIVES: dict[str, tuple[Callable[[int], tuple[int, int]], Callable[[int], str]]] = {
    "BARRIER": (lambda r: (0, 0), lambda r: "Barrier 0"),
    "BCAST": (lambda r: (64 * (r == 1), 16), lambda r: "Bcast 0 16 MPI_BYTE 1"),
    "REDUCE": (lambda r: (16, 64 * (r == 1)), lambda r: "Reduce 0 2 MPI_DOUBLE MPI_SUM 1"),
    "GATHER": (
        lambda r: (16, 64 * (r == 1)),
        lambda r: f"Gather 0 16 MPI_BYTE {'16 MPI_BYTE' if r == 1 else '-'} 1",
    ),
    "SCATTER": (
        lambda r: (64 * (r == 1), 16),
        lambda r: f"Scatter 0 {'16 MPI_BYTE' if r == 1 else '-'} 16 MPI_BYTE 1",
    ),
    "GATHERV": (
        lambda r: (r + 1, 10 * (r == 1)),
        lambda r: f"Gatherv 0 {r + 1} MPI_BYTE {'1,2,3,4 MPI_BYTE' if r == 1 else '-'} 1",
    ),
    "SCATTERV": (
        lambda r: (10 * (r == 1), r + 1),
        lambda r: f"Scatterv 0 {'1,2,3,4 MPI_BYTE' if r == 1 else '-'} {r + 1} MPI_BYTE 1",
    ),
    "ALLGATHER": (lambda r: (64, 64), lambda r: "Allgather 0 16 MPI_BYTE 16 MPI_BYTE"),
    "ALLTOALL": (lambda r: (64, 64), lambda r: "Alltoall 0 16 MPI_BYTE 16 MPI_BYTE"),
    "ALLGATHERV": (
        lambda r: (4 * (r + 1), 10),
        lambda r: f"Allgatherv 0 {r + 1} MPI_BYTE 1,2,3,4 MPI_BYTE",
    ),
    "ALLTOALLV": (
        lambda r: (40, 40),
        lambda r: "Alltoallv 0 10,10,10,10 MPI_BYTE 10,10,10,10 MPI_BYTE",
    ),
    "ALLREDUCE": (lambda r: (64, 64), lambda r: "Allreduce 0 2 MPI_DOUBLE MPI_SUM"),
    "REDUCE_SCATTER_BLOCK": (
        lambda r: (64, 64),
        lambda r: "Reduce_scatter_block 0 2 MPI_DOUBLE MPI_SUM",
    ),
    "REDUCE_SCATTER": (
        lambda r: (80, 32 * (r + 1)),
        lambda r: "Reduce_scatter 0 1,2,3,4 MPI_DOUBLE MPI_SUM",
    ),
    "SCAN": (
        lambda r: (16 * (4 - r), 16 * (r + 1)),
        lambda r: "Scan 0 2 MPI_DOUBLE MPI_SUM",
    ),
    "EXSCAN": (lambda r: (16 * (3 - r), 16 * r), lambda r: "Exscan 0 2 MPI_DOUBLE MPI_SUM"),
}


def test_collectives_of_otf2_are_real_collectives(writer: Writer, tmp_path: Path) -> None:
    for rank in range(RANKS):
        for name, (bytes_of, _) in COLLECTIVES.items():
            writer.collective(rank, name, *bytes_of(rank), root=1)
    anchor = writer.end()
    lines = lines_of(anchor, tmp_path)
    for rank in range(RANKS):
        expected = [words(rank) for _, words in COLLECTIVES.values()]
        assert lines[rank] == [*expected, "Finalize"]
    rows = replayed(anchor, tmp_path, "hdr100-8")["collectives"]
    names = {name.lower() for name in COLLECTIVES} - {"reduce_scatter_block"}
    assert names <= {row["collective"] for row in rows}
    (allreduce,) = [row for row in rows if row["collective"] == "allreduce"]
    assert allreduce["path"] == "stream"


def test_collectives_in_place(writer: Writer, tmp_path: Path) -> None:
    for rank in range(RANKS):
        writer.collective(rank, "ALLREDUCE", 3 * 18, 3 * 18)
        writer.collective(rank, "GATHER", 16 * (rank != 0), 48 * (rank == 0))
        writer.collective(rank, "SCAN", 16 * (3 - rank), 16 * rank)
    for words in lines_of(writer.end(), tmp_path).values():
        assert words[0] == "Allreduce 0 9 MPI_SHORT MPI_SUM"
        assert words[1].startswith("Gather 0 16 MPI_BYTE")
        assert words[2] == "Scan 0 2 MPI_DOUBLE MPI_SUM"


def exchange(writer: Writer, rank: int, world: Any) -> None:
    """Write a ring of non-blocking messages, whose receives are completed by a single wait."""
    following, before = (rank + 1) % RANKS, (rank - 1) % RANKS

    def receive(events: Any) -> None:
        events.mpi_irecv_request(writer.now[rank], 1)

    def send(events: Any) -> None:
        events.mpi_isend(writer.now[rank], following, world, 7, 4096, 2)

    def wait(events: Any) -> None:
        events.mpi_irecv(writer.now[rank], before, world, 7, 4096, 1)
        events.mpi_isend_complete(writer.now[rank], 2)

    writer.region(rank, "MPI_Irecv", receive)
    writer.region(rank, "MPI_Isend", send)
    writer.region(rank, "MPI_Test", lambda _: None)
    writer.region(rank, "MPI_Waitall", wait)


def test_messages_of_otf2(writer: Writer, tmp_path: Path) -> None:
    odd = writer.communicator(3, 1)

    def both(rank: int) -> Callable[[Any], None]:
        def write(events: Any) -> None:
            events.mpi_send(writer.now[rank], 1 - (rank == 1), odd, 3, 10)
            events.mpi_recv(writer.now[rank], 1 - (rank == 1), odd, 3, 10)

        return write

    for rank in range(RANKS):
        exchange(writer, rank, writer.world)
        exchange(writer, rank, writer.world)
        if rank in (1, 3):
            writer.region(rank, "MPI_Sendrecv", both(rank))
    anchor = writer.end()
    lines = lines_of(anchor, tmp_path)
    ring = [
        "Irecv 0 4096 MPI_BYTE 3 7 0",
        "Isend 0 4096 MPI_BYTE 1 7 1",
        "Waitall 0,1",
    ]
    assert lines[0] == [*ring, *ring, "Finalize"]
    assert lines[1][0] == "Comm_create_group 0 3,1 1 1"
    assert lines[1][-2] == "Sendrecv 1 10 MPI_BYTE 0 3 10 MPI_BYTE 0 3"
    record = replayed(anchor, tmp_path)
    # 10 us separate calls; a test that completes nothing is omitted, with its time.
    outside = 1e-6 * 10 * 8
    assert record["simulated_time_s"] == pytest.approx(outside, rel=0.5)
    assert record["simulated_time_s"] > outside


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (lambda events, w: events.mpi_isend_complete(30, 5), "rank 0 completes request 5, which"),
        (lambda events, w: events.rma_wait_change(30, w), "rank 0 uses one-sided communication"),
    ],
)
def test_what_is_refused(writer: Writer, write: Callable[[Any, Any], None], said: str) -> None:
    window = writer._define.rma_win("", comm=writer.world)
    writer.region(0, "MPI_Wait", lambda events: write(events, window))
    assert said in refused(writer.end())


def test_damaged_archives(writer: Writer) -> None:
    for rank in range(RANKS):
        exchange(writer, rank, writer.world)
    anchor = writer.end()
    events = sorted((anchor.parent / "traces").glob("*.evt"))
    whole = events[0].read_bytes()
    events[0].write_bytes(whole[: len(whole) // 2])
    assert "cannot be read" in refused(anchor)
    events[0].write_bytes(whole)
    assert replayed(anchor, anchor.parent)["ranks"] == RANKS
    anchor.write_bytes(b"OTF2 but nothing else")
    assert "name the .otf2 file of a whole archive" in refused(anchor)


# ---- DUMPI ----


def comparable(words: str) -> str:
    """Return the words of a call without parts that two recordings number or write differently."""
    name, *rest = re.sub(r"\b(\d+)\*(\d+)", _repeated, words).split()
    if name in ("Waitany", "Waitsome", "Testall"):
        return name
    if name in ("Allreduce", "Bcast", "Reduce", "Barrier"):
        rest = rest[1:]
    return " ".join([name, *rest])


def _repeated(found: re.Match[str]) -> str:
    return ",".join([found[1]] * int(found[2]))


def test_a_dumpi_trace_has_the_calls_of_its_program(tmp_path: Path) -> None:
    own = tmp_path / "own"
    options = ("-q", "--fabric", "tofino-4", "-n", "4", "--record", str(own))
    result = weft("run", *options, str(program(DUMPI / "traced.c")))
    assert result.status == 0, result.stderr
    expected, found = (lines_of(path, tmp_path) for path in (own, DUMPI))
    makes = ("Comm_", "Cart_")  # replayed by MPI_Comm_split
    for rank in range(RANKS):
        pairs = [
            [
                comparable(one)
                for one in lines[rank]
                if not one.startswith(makes) and one[-2:] != " -"
            ]
            for lines in (expected, found)
        ]
        assert pairs[0] == pairs[1]
    sizes = [
        sorted(
            (row["collective"], row["communicator_size"], row["calls"], row["bytes"])
            for row in rows
        )
        for rows in (replayed(path, tmp_path)["collectives"] for path in (own, DUMPI))
    ]
    assert sizes[0] == sizes[1]


def test_times_of_a_dumpi_trace(tmp_path: Path) -> None:
    trace = read_trace(DUMPI)
    assert isinstance(trace, RecordedTrace)
    trace.unpack(tmp_path / "calls.txt")
    waits = re.findall(r"^0 sleep (\S+)$", (tmp_path / "calls.txt").read_text(), re.MULTILINE)
    assert len(waits) > 10
    assert all(0 < float(one) < 1 for one in waits)


def test_damaged_dumpi_traces(tmp_path: Path) -> None:
    folder = tmp_path / "trace"
    shutil.copytree(DUMPI, folder)
    (folder / "traced-0002.bin").write_bytes(b"DUMPI")
    assert "the library for DUMPI ended by SIG" in refused(folder)
    (folder / "traced-0002.bin").unlink()
    assert "found 3 files traced-….bin beside it, and it states 4 ranks" in refused(folder)
