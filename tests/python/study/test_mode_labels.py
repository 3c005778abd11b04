# SPDX-License-Identifier: LGPL-2.1-only
"""Labels name the simulated executor, not the requested mode."""

import csv
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.python.runs.test_record import raw
from weft.base.errors import WeftError
from weft.cli.root import weft
from weft.runs.record import Record
from weft.study.bench.micro_benchmarks import Time
from weft.study.bench.modes import Way, check_as_asked, labels, way_taken

FALLBACK = {"path": "fallback", "reason": "collective", "algorithm": "binomial"}


def record(*rows: dict[str, Any]) -> Record:
    data = raw()
    data["collectives"] = [{**data["collectives"][0], **row} for row in rows]
    return Record.from_json(data)


def test_what_was_offloaded_is_called_by_its_mode() -> None:
    way = way_taken(record({}), "stream", ["allreduce"], offloading=True)
    assert way == Way("stream", "", "stream", "")


def test_what_fell_back_is_called_by_what_did_it() -> None:
    way = way_taken(record(FALLBACK), "stream", ["allreduce"], offloading=True)
    assert way == Way(
        "binomial",
        "collective",
        "binomial for stream",
        "stream: on tofino-4 allreduce fell back to the hosts (binomial), because the switch does"
        " not"
        " support this collective",
    )


def test_hosts_that_were_asked_are_no_fallback() -> None:
    asked = {**FALLBACK, "reason": "policy", "algorithm": "ring"}
    assert way_taken(record(asked), "ring", ["allreduce"], offloading=False).label == "ring"
    assert way_taken(record(), "ring", ["bcast"], offloading=False).path == "messages"


def test_one_of_two_collectives_that_fell_back_is_named() -> None:
    fallen = {**FALLBACK, "collective": "ireduce_scatter", "algorithm": "smpi:only"}
    both = record({"collective": "iallgather", "path": "multicast"}, fallen)
    way = way_taken(both, "multicast", ["iallgather", "ireduce_scatter"], offloading=True)
    assert (way.path, way.reason) == ("multicast + smpi", "collective")
    assert way.label == "multicast, ireduce_scatter on the hosts"


def rows_of(mode: str, *ways: Way) -> list[Time]:
    return [Time("allreduce", mode, 4, 1, 4, {}, "tofino-4", way) for way in ways]


def test_a_mode_whose_calls_went_several_ways_names_them_all() -> None:
    """Covers one run whose sizes are executed differently, and one run per size."""
    chosen = {**FALLBACK, "reason": "host is faster", "algorithm": "ring"}
    way = way_taken(record({}, chosen), "auto", ["allreduce"], offloading=True)
    assert way.label == "auto (stream, ring)"
    offloaded, fallen, other = (
        way_taken(record(row), "stream", ["allreduce"], offloading=True)
        for row in ({}, FALLBACK, {**FALLBACK, "algorithm": "binary_tree"})
    )
    assert (
        labels(rows_of("stream", other, fallen), "stream") == "binary_tree or binomial for stream"
    )
    assert labels(rows_of("stream", offloaded, fallen), "stream") == "stream (stream, binomial)"


def test_an_algorithm_that_another_stood_in_for_is_not_what_was_simulated() -> None:
    asked = [
        {**FALLBACK, "reason": "policy", "algorithm": name}
        for name in ("segmented_ring", "recursive_doubling")
    ]

    def label(mode: str, *rows: dict[str, Any]) -> str:
        return way_taken(record(*rows), mode, ["allreduce"], offloading=False).label

    assert label("segmented_ring", asked[0]) == "segmented_ring"
    assert label("segmented_ring", asked[1]) == "recursive_doubling for segmented_ring"
    both = "segmented_ring (recursive_doubling, segmented_ring)"
    assert label("segmented_ring", *reversed(asked)) == both
    assert label("allreduce=segmented_ring", asked[0]) == "allreduce=segmented_ring"
    assert label("openmpi-5.0", *asked) == "openmpi-5.0"


def test_where_labels_are_fixed_a_fallback_is_an_error() -> None:
    way = way_taken(record(FALLBACK), "stream", ["allreduce"], offloading=True)
    rows = rows_of("stream", way)
    assert labels(rows, "stream") == "binomial for stream"
    with pytest.raises(WeftError, match=r"demo: stream: on tofino-4 .* the hosts"):
        check_as_asked(rows, "demo")


# ---- Benchmarks on switches that cannot offload --------------------------------------------------


def bench(*arguments: str) -> Result:
    result = CliRunner().invoke(weft, ["bench", *arguments])
    assert result.exit_code == 0, result.output
    return result


def test_the_table_and_the_csv_of_an_allreduce_name_the_fallback(tmp_path: Path) -> None:
    target = tmp_path / "latency.csv"
    options = ("--sizes", "1KiB", "--modes", "stream,openmpi-4.1", "--csv", str(target))
    result = bench("allreduce", "--fabric", "star-8", "-n", "4", *options)
    heading, head, line = result.stdout.splitlines()
    assert heading.startswith("MPI_Allreduce on star-8")
    assert head.split() == ["#", "Size", "recursive_doubling", "for", "stream", "openmpi-4.1"]
    assert line.split()[1] == line.split()[2]
    reason = "no smart switch connects all hosts of the communicator"
    assert result.stderr == (
        "weft: stream: on star-8 allreduce fell back to the hosts (recursive_doubling), because"
        f" {reason}\n"
    )
    with target.open() as file:
        rows = [
            (row["fabric"], row["mode"], row["path"], row["reason"]) for row in csv.DictReader(file)
        ]
    assert rows == [
        ("star-8", "stream", "recursive_doubling", "communicator not on the tree"),
        ("star-8", "openmpi-4.1", "recursive_doubling", ""),
    ]


def test_the_table_names_what_an_algorithm_executes() -> None:
    options = ("--sizes", "8B", "--modes", "segmented_ring,recursive_doubling")
    result = bench("allreduce", "--fabric", "tofino-16", "-n", "16", *options)
    head, line = result.stdout.splitlines()[1:]
    columns = ["# Size", *("recursive_doubling for segmented_ring", "recursive_doubling")]
    assert head.split("  ") == columns
    assert line.split()[1] == line.split()[2]


def test_each_size_is_said_to_have_gone_its_own_way(tmp_path: Path) -> None:
    target = tmp_path / "latency.csv"
    options = ("--sizes", "512B,64KiB", "--modes", "auto", "--csv", str(target))
    result = bench("allreduce", "--fabric", "tofino-4", "-n", "4", *options)
    assert "auto (recursive_doubling, stream)" in result.stdout
    assert (
        result.stderr.count(
            "weft: auto: on tofino-4 allreduce fell back to the hosts (recursive_doubling)"
        )
        == 1
    )
    with target.open() as file:
        rows = [(row["bytes"], row["path"], row["reason"]) for row in csv.DictReader(file)]
    assert rows == [
        ("512", "recursive_doubling", "host is faster"),
        ("65536", "stream", ""),
    ]


def test_the_table_of_a_broadcast_names_the_fallback() -> None:
    options = ("--sizes", "4KiB", "--modes", "stream,knomial")
    result = bench("bcast", "--fabric", "tofino-4", "-n", "4", *options)
    first, second = result.stdout.splitlines()[2:]
    assert first.split()[:4] == ["4096", "binomial", "for", "stream"]
    assert second.split()[:2] == ["4096", "knomial"]
    assert result.stderr == (
        "weft: stream: on tofino-4 bcast fell back to the hosts (binomial), because the switch"
        " does not"
        " support this collective\n"
    )
