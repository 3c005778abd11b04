# SPDX-License-Identifier: LGPL-2.1-only
"""Collectives that hosts execute with weft's schedules.

Their times do not depend on the simulation of messages: coalesced flows, separate flows, or
SimGrid's flows. If SMPI's algorithm sends the same messages in the same order, its times are equal.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

import weft
from tests.support import fabrics, simulated
from tests.support.simulated import Program, Run
from weft import _core

EXACT = 1e-9
TOPOLOGIES = ("star", "fat_tree", "dragonfly", "torus")
SELECTIONS = tuple(one["name"] for one in _core.selections())
FLOWS = "WEFT_HOST_FLOWS"
# SimGrid treats events within 1 ns as simultaneous, and its lazy updates leave some flows with an
# outdated rate: a message of 1 MB that shares its link with three messages of a Bcast is not slowed
# down.
PRECISELY = ("--cfg", "network/optim:Full", "--cfg", "precision/timing:1e-13")

Times = dict[tuple[str, ...], list[float]]


def times(lines: Sequence[str]) -> Times:
    """Return the times at which ranks leave, in order, by rank, call and size."""
    found: Times = {}
    for line in lines:
        *what, seconds = line.split()
        found.setdefault(tuple(what), []).append(float(seconds))
    return {what: sorted(all_of_it) for what, all_of_it in found.items()}


def assert_same(found: Times, expected: Times) -> None:
    assert found.keys() == expected.keys() and len(found) > 0
    for what, seconds in expected.items():
        assert found[what] == pytest.approx(seconds, rel=EXACT), what


# ---- Simulation of messages ----


@pytest.mark.parametrize("ppn", [1, 3])
@pytest.mark.parametrize("kind", TOPOLOGIES)
def test_no_carrier_changes_a_time(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, ppn: int
) -> None:
    """SimGrid's network does not model host memory, which ranks share by default here."""
    costly = fabrics.make(tmp_path, kind)
    free = fabrics.with_free_hosts(tmp_path, str(costly))
    ranks = {1: 13, 3: 24}[ppn]

    def simulate(flows: str, on: Path) -> Times:
        monkeypatch.setenv(FLOWS, flows)
        options = ("--ppn", str(ppn), *PRECISELY)
        return times(
            run(
                "schedules.c", "mixed", "8", "20000", on=str(on), ranks=ranks, options=options
            ).lines
        )

    assert_same(simulate("unfolded", costly), simulate("", costly))
    assert_same(simulate("simgrid", free), simulate("", free))


# ---- SMPI's algorithms ----

# weft's algorithms and SMPI's. Omitted because SMPI's times differ: Allreduces lr (a ring whose
# ranks first send a block to themselves), rab2 and rab_rdb, the segmented Reduces and Bcasts with
# Open MPI's names, Gather ompi_linear_sync, Scatter ompi_binomial. Allgather `ring` is pairwise;
# NTSLR is a ring that sends each rank's own block to itself, which takes no time on these hosts.
THE_SAME = {
    "allreduce": {"recursive_doubling": "rdb", "rabenseifner": "rab1"},
    "reduce": {
        "mpich_binomial": "binomial",
        "linear": "ompi_basic_linear",
        "in-order_binary": "ompi_in_order_binary",
        "rabenseifner": "scatter_gather",
    },
    "reduce_scatter": {
        "recursive_halving": "ompi_basic_recursivehalving",
        "ring": "ompi_ring",
        "butterfly": "ompi_butterfly",
    },
    "bcast": {
        "mpich_binomial": "binomial_tree",
        "basic_linear": "flattree",
        "scatter_ring_allgather": "scatter_LR_allgather",
        "scatter_recursive_doubling_allgather": "scatter_rdb_allgather",
    },
    "allgather": {
        "ring": "NTSLR",
        "bruck": "bruck",
        "recursive_doubling": "rdb",
        "neighbor": "ompi_neighborexchange",
    },
    "alltoall": {"pairwise": "ring", "linear": "basic_linear", "modified_bruck": "bruck"},
    "gather": {"binomial": "ompi_binomial", "basic_linear": "ompi_basic_linear"},
    "scatter": {"basic_linear": "ompi_basic_linear"},
    "barrier": {
        "recursive_doubling": "ompi_recursivedoubling",
        "bruck": "ompi_bruck",
        "tree": "ompi_tree",
        "double_ring": "ompi_doublering",
        "linear": "ompi_basic_linear",
    },
}
SIZES = ("64", "12288", "307200")
PAIRS = [(one, *pair) for one, pairs in THE_SAME.items() for pair in pairs.items()]


@pytest.mark.parametrize("kind", ["star", "fat_tree"])
@pytest.mark.parametrize(
    ("collective", "ours", "theirs"), PAIRS, ids=[f"{one[0]}-{one[1]}" for one in PAIRS]
)
def test_the_time_is_that_of_smpis_algorithm(
    run: Run, tmp_path: Path, kind: str, collective: str, ours: str, theirs: str
) -> None:
    path = fabrics.with_free_hosts(tmp_path, str(fabrics.make(tmp_path, kind)))
    text = path.read_text().replace('loopback_latency = "0.4us"', 'loopback_latency = "0us"')
    path.write_text(text.replace('loopback_bandwidth = "10GBps"', 'loopback_bandwidth = "1e9GBps"'))

    def simulate(name: str) -> Times:
        options = ("--offload", "off", "--fallback", f"{collective}={name}", *PRECISELY)
        result = run("schedules.c", collective, *SIZES, on=str(path), ranks=16, options=options)
        (row,) = result.rows(collective=collective, communicator_size=16)
        assert row["algorithm"] == name
        return times(result.lines)

    assert_same(simulate(ours), simulate(f"smpi:{theirs}"))


# ---- Errors ----


@pytest.mark.parametrize(
    ("fallback", "said"),
    [
        ("rign", ('found "rign"', 'did you mean "ring"?', "openmpi-4.1", "smpi:NAME")),
        ("bcst=binomial", ('no collective "bcst"', 'did you mean "bcast"?')),
        ("bcast=ring", ('no algorithm "ring" for bcast', "binomial", "smpi:NAME")),
        ("bcast=", ('no algorithm "" for bcast',)),
        ("", ("found an empty text",)),
        ("ring,", ('found ""',)),
        ("smpi:rbd", ("found 'smpi:rbd'", "did you mean rdb")),
        ("smpi:", ('found "smpi:"',)),
        ("bcast=smpi:rdb", ("found 'smpi:rdb'", "no such algorithm for bcast")),
        ("no/such.toml", ("no/such.toml",)),
    ],
)
def test_a_fallback_that_there_is_not_is_refused(
    program: Program, fallback: str, said: Sequence[str]
) -> None:
    options = ("--fallback", fallback)
    result = simulated.run_command(
        simulated.weft_command(program("calls.c"), "int-max", options=options)
    )
    assert result.status == 2
    (message,) = result.messages
    assert message.startswith("weft: --fallback: ")
    for words in said:
        assert words in message


def test_a_selection_with_a_wrong_line_is_refused_with_its_place(
    program: Program, tmp_path: Path
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[[rule]]\ncollective = "allreduce"\nalgorithm = "rign"\n', encoding="utf-8")
    result = simulated.run_command(
        simulated.weft_command(program("calls.c"), "int-max", options=("--fallback", str(path)))
    )
    assert result.status == 2
    (message,) = result.messages
    assert str(path) in message and "rign" in message


@pytest.mark.parametrize("named", ["ring", "allreduce=ring", "allreduce=sm"])
def test_the_library_decides_calls_that_an_algorithm_cannot_do(
    program: Program, tmp_path: Path, named: str
) -> None:
    record = tmp_path / "record.json"
    options = ("--offload", "off", "--fallback", named, "--json", str(record))
    command = simulated.weft_command(program("awkward.c"), "ordered", options=options)
    assert simulated.run_command(command).status == 0
    read = weft.read_record(record)
    (row,) = (one for one in read.collectives if one.collective == "allreduce")
    assert row.algorithm.endswith(" (openmpi-5.0)")
    algorithm = named.removeprefix("allreduce=")
    assert f"allreduce: {algorithm} cannot execute 1 call on 4 ranks; openmpi-5.0" in str(read)


ORDERED_BY_RING = """
[selection]
base = "openmpi-5.0"
[[rule]]
collective = "allreduce"
algorithm = ["ring"]
"""
PARTS = ORDERED_BY_RING.replace("ring", "nonoverlapping") + (
    '[[rule]]\ncollective = "reduce"\nalgorithm = ["chain"]\n'
)
NO_PARTS = PARTS[: PARTS.rindex("[[rule]]")].replace('base = "openmpi-5.0"', "")
# Rules that select algorithm 4 (ring) and algorithm 6 (Rabenseifner) for Allreduce.
RULES = "1\n2 # Allreduce\n1\n2\n1\n0 {} 0 0\n"


@pytest.mark.parametrize(
    ("file", "text", "library"),
    [
        ("own.toml", ORDERED_BY_RING.replace("openmpi-5.0", "openmpi-4.1"), "openmpi-4.1"),
        ("own.toml", ORDERED_BY_RING.replace('base = "openmpi-5.0"', ""), "openmpi-5.0"),
        ("own.toml", PARTS, ""),
        ("rules.conf", RULES.format(4), "openmpi-4.1"),
    ],
)
@pytest.mark.parametrize("offload", ["off", "auto"])
def test_the_library_decides_calls_that_a_rule_cannot_do(
    program: Program,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    file: str,
    text: str,
    library: str,
    offload: str,
) -> None:
    """The same applies to parts of other algorithms, and to predictions of times."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / file).write_text(text, encoding="utf-8")
    on = str(fabrics.make(tmp_path, "star", None, "ideal"))
    options = ("--offload", offload, "--fallback", file, "--json", "record.json")
    command = simulated.weft_command(program("awkward.c"), "ordered", on=on, options=options)
    result = simulated.run_command(command)
    assert result.status == 0, result.stderr
    read = weft.read_record(tmp_path / "record.json")
    (row,) = (one for one in read.collectives if one.collective == "allreduce")
    if row.offloaded:  # `auto` may prefer the switch
        assert offload == "auto"
    elif library:
        assert row.algorithm.endswith(f" ({library})")
    else:
        assert row.algorithm == "nonoverlapping"
    told = f"allreduce: a rule of {file} cannot execute 1 call on 4 ranks; {library} selects "
    assert (told in str(read)) == (bool(library) and not row.offloaded)


def test_a_part_without_a_rule_ends_the_run(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.toml").write_text(NO_PARTS, encoding="utf-8")
    options = ("--offload", "off", "--fallback", "own.toml")
    command = simulated.weft_command(program("awkward.c"), "ordered", options=options)
    result = simulated.run_command(command)
    assert result.status == 1
    (message,) = result.messages
    assert "--fallback: own.toml: no rule holds for reduce of 4 ranks" in message


def test_a_rule_of_open_mpis_is_followed_as_open_mpi_does(run: Run, tmp_path: Path) -> None:
    """Like Open MPI, weft avoids Rabenseifner's algorithm if an operation does not commute."""
    path = tmp_path / "rules.conf"
    path.write_text(RULES.format(6), encoding="utf-8")
    options = ("--offload", "off", "--fallback", str(path))
    result = run("awkward.c", "ordered", options=options)
    assert {row["algorithm"] for row in result.rows(collective="allreduce")} == {"basic_linear"}


# ---- Data ----

FALLBACKS = ("smpi:ompi", *SELECTIONS)


@pytest.mark.parametrize("fallback", FALLBACKS)
def test_random_programs_are_right_whatever_the_hosts_do(
    run: Run, tmp_path: Path, fallback: str
) -> None:
    on = str(fabrics.make(tmp_path, "fat_tree", None, "ideal"))
    options = ("--offload", "off", "--fallback", fallback)
    run("random_programs", "11", "0", "5", on=on, ranks=7, options=options)


@pytest.mark.parametrize(("seed", "ranks"), [(21, 5), (22, 16), (23, 24), (24, 16)])
@pytest.mark.parametrize("fallback", FALLBACKS)
@pytest.mark.slow
def test_more_random_programs_are_right_whatever_the_hosts_do(
    run: Run, tmp_path: Path, fallback: str, ranks: int, seed: int
) -> None:
    on = str(fabrics.make(tmp_path, TOPOLOGIES[seed % 4], None, "ideal"))
    options = ("--offload", "off", "--fallback", fallback)
    run("random_programs", str(seed), "0", "9", on=on, ranks=ranks, options=options)


def random_calls(run: Run, fallback: str, seed: int, last: int) -> list[str]:
    options = ("--offload", "off", "--fallback", fallback)
    arguments = (str(seed), "0", str(last))
    return run("random_calls", *arguments, on="star-8", ranks=7, options=options).lines


@pytest.mark.parametrize("fallback", SELECTIONS)
def test_random_calls_are_right_whatever_the_hosts_do(run: Run, fallback: str) -> None:
    """The program checks each result itself."""
    assert len(random_calls(run, fallback, 31, 59)) == 7 * 60


@pytest.mark.parametrize("seed", [32, 33, 34])
@pytest.mark.parametrize("fallback", SELECTIONS)
@pytest.mark.slow
def test_more_random_calls_are_right_whatever_the_hosts_do(
    run: Run, fallback: str, seed: int
) -> None:
    assert len(random_calls(run, fallback, seed, 249)) == 7 * 250


# ---- Calls that took too long ----


@pytest.mark.parametrize(
    ("mpi", "least"), [("", 3.526e-3), ('[mpi]\neager_threshold = "64KiB"\n', 2.564e-3)]
)
def test_an_eager_threshold_does_not_slow_a_ring_on_a_fat_tree(
    tmp_path: Path, mpi: str, least: float
) -> None:
    """With 512 ranks and 1,022 rounds of 32 B, SMPI's algorithm took 39.6 ms with a threshold.

    Without a threshold, a message starts when both sides have posted it.
    """
    shipped = Path(_core.load_fabric("fat-tree-1024").file).read_text(encoding="utf-8")
    path = tmp_path / "fabric.toml"
    path.write_text(f"{shipped.partition('[mpi]')[0]}\n{mpi}", encoding="utf-8")
    call = ("allreduce", 512, 1, 4096, 4)
    (seconds,) = _core.predicted_times(_core.load_fabric(str(path)), "allreduce=ring", [call])
    assert seconds == pytest.approx(least, rel=0.01)
