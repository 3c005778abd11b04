# SPDX-License-Identifier: LGPL-2.1-only
"""The forwarding cache experiment, with few ranks and two programs."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from studies import forwarding
from studies import forwarding_report as report
from studies.forwarding import CASES, FABRICS, Program, Run, Variant
from weft import _core
from weft.base.errors import WeftError

RANKS = 16
SMALL = (
    Program("CG", forwarding.example("cg"), RANKS, ("1024", "1"), ": right"),
    Program("BFS", forwarding.example("bfs"), RANKS, ("8", "2"), ": right"),
)
TORUS = FABRICS[0]


def loaded(variant: Variant, directory: Path) -> "_core.Fabric":
    path = directory / "fabric.toml"
    path.write_text(forwarding.fabric_text(variant), encoding="utf-8")
    return _core.load_fabric(str(path))


# ---- Fabrics -------------------------------------------------------------------------------------


def test_a_cache_saves_nine_nanoseconds_a_switch(tmp_path: Path) -> None:
    routes = [
        loaded(Variant("paper", TORUS, 400, kind), tmp_path).route(0, 1)
        for kind in report.FORWARDING
    ]
    # Neighbours: two host cables, and one cable between switches.
    expected = [2 * 0.94e-6 + 25e-9 + 2 * delay for delay in (60e-9, 51e-9)]
    assert [route["latency_s"] for route in routes] == pytest.approx(expected)


@pytest.mark.parametrize("fabric", FABRICS)
def test_all_cables_have_the_bandwidth(fabric: str, tmp_path: Path) -> None:
    found = loaded(Variant("paper", fabric, 1600, "cache"), tmp_path)
    assert {cable["bandwidth_Bps"] for cable in found.cables()} == {200e9}


def test_short_frames_are_as_fast_as_their_lookups(tmp_path: Path) -> None:
    for kind, Gbps in (("tcam", 168), ("cache", 933)):  # noqa: N806
        variant = Variant("lookups", TORUS, 1600, kind)
        assert {cable["bandwidth_Bps"] for cable in loaded(variant, tmp_path).cables()} == {200e9}
        table = tomllib.loads(forwarding.fabric_text(variant))["switch"]["forwarding"]
        assert table["frame"] == "84B"
        interval_ns = float(table["interval"].removesuffix("ns"))
        assert 84 * 8 / interval_ns == pytest.approx(Gbps, rel=1e-3)


def test_a_case_without_latencies_has_those_of_the_switches(tmp_path: Path) -> None:
    found = loaded(Variant("simgrid", TORUS, 100, "tcam"), tmp_path)
    assert found.route(0, 1)["latency_s"] == pytest.approx(2 * 60e-9)


def test_a_dragonfly_with_the_cables_that_the_paper_counts(tmp_path: Path) -> None:
    found = loaded(Variant("cables", "dragonfly-16x16", 100, "tcam"), tmp_path)
    hosts = len(found.hosts)
    assert len(found.cables()) - hosts == 3840


# ---- Runs --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_experiment_runs_and_is_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = list(forwarding.variants("simgrid"))
    rows = forwarding.sweep(forwarding.runs(SMALL, wanted, tmp_path))
    for fabric in FABRICS:
        found = report.results(rows, "simgrid", fabric, RANKS)
        assert found.programs == ["CG", "BFS"]
        for program in found.programs:
            # 60 ns against 51 ns for a hit or 61 ns for a miss; nothing else takes time.
            assert 0.1 < found.gain(program, 1600) <= 60 / 51 - 1
            assert 1 < found.relative(program, 1600, "tcam") < 16
    assert all((row.hits > row.misses > 0) == (row.forwarding == "cache") for row in rows)
    ran: list[str] = []
    monkeypatch.setattr(Run, "carry_out", lambda run: ran.append(run.record.stem))
    records = sorted((tmp_path / "records").glob("*.json"))
    assert forwarding.sweep(forwarding.runs(SMALL, wanted, tmp_path)) == rows
    assert ran == []
    lost = records[0]
    lost.unlink()
    with pytest.raises(Exception, match=lost.name):  # its record is missing
        forwarding.sweep(forwarding.runs(SMALL, wanted, tmp_path))
    assert ran == [lost.stem]


@pytest.mark.slow
def test_messages_between_hosts_are_counted_on_the_baseline(tmp_path: Path) -> None:
    (run,) = forwarding.runs(SMALL[:1], [forwarding.BASELINE], tmp_path)
    forwarding.sweep([run])
    counted = run.traffic()
    # A solve sends 26 products, each summed over a row of 4 ranks and transposed (except on the
    # diagonal), 52 scalar products, and one scalar product for the residual; each rank holds 256
    # numbers.
    assert (counted.program, counted.ranks) == ("CG", RANKS)
    piece, envelope = 256 * 8, 16
    assert 8 + envelope < counted.mean_bytes < piece + envelope
    products, sums = 26 * (2 * 16 + 12), 53 * 2 * 16
    assert counted.messages >= products + sums


@pytest.mark.slow
def test_a_program_with_wrong_data_is_no_trace_to_replay(tmp_path: Path) -> None:
    wrong = replace(SMALL[1], says=": perfect")
    with pytest.raises(WeftError, match="BFS ended with status 0"):
        forwarding.record_trace(wrong, tmp_path)


# ---- The document --------------------------------------------------------------------------------


def test_the_document_shows_what_was_run() -> None:
    rows, traffic = report.read_rows(), report.read_traffic()
    meanings = {name: case.meaning for name, case in CASES.items()}
    assert forwarding.STUDY.page is not None
    text = forwarding.STUDY.page.read_text(encoding="utf-8")
    for part in report.document_parts(rows, traffic, meanings).values():
        assert part in text


def test_the_programs_are_the_papers_ten_with_each_number_of_ranks() -> None:
    """Section V.C; BFS stands for Graph500."""
    paper = {"BT", "CG", "DT", "LU", "MG", "SP", "FT", "IS", "MM", "BFS"}
    rows = report.read_rows()
    for ranks in report.RANKS:
        assert {one.name for one in forwarding.programs(ranks)} == paper
        for case in CASES:
            for fabric in CASES[case].fabrics:
                if ranks in CASES[case].ranks:
                    assert set(report.results(rows, case, fabric, ranks).programs) == paper
    ran = {(row.program, row.ranks) for row in rows}
    assert {(one.program, one.ranks) for one in report.read_traffic()} == ran


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    rows = [report.Row("paper", TORUS, "CG", 16, 100, "cache", 0.001234567891, 5, 2)]
    report.write_csv(rows, tmp_path / "rows.csv")
    assert report.read_rows(tmp_path / "rows.csv") == rows
    counted = [report.Traffic("CG", 16, 7, 1000)]
    report.write_csv(counted, tmp_path / "messages.csv")
    assert report.read_traffic(tmp_path / "messages.csv") == counted


def test_performance_is_relative_to_slow_links_without_cache() -> None:
    found = report.Results(
        {
            ("A", 100, "tcam"): 8.0,
            ("A", 1600, "tcam"): 2.0,
            ("A", 1600, "cache"): 1.0,
            ("B", 100, "tcam"): 2.0,
            ("B", 1600, "tcam"): 2.0,
            ("B", 1600, "cache"): 1.0,
        }
    )
    assert found.relative("A", 1600, "cache") == 8
    assert found.relative("average", 1600, "cache") == (8 + 2) / 2
    assert found.gain("A", 1600) == 1
    assert found.gain("average", 1600) == pytest.approx(1)
