# SPDX-License-Identifier: LGPL-2.1-only
"""`weft collectives`: algorithms, selections, the messages of a call."""

from pathlib import Path

import pytest

from tests.support.simulated import weft_says as weft
from weft import _core
from weft.runs.options import DEFAULT_FALLBACK
from weft.study import schedules
from weft.study.schedules import Case

OWN = """
[[rule]]
collective = "bcast"
bytes = [0, 4096]
algorithm = ["binomial", "pipeline"]
segment = [0, 1024]
"""


def test_what_is_shown_by_default_is_what_runs_do() -> None:
    assert schedules.DEFAULT_SELECTION == DEFAULT_FALLBACK


def test_algorithms_are_listed_by_collective() -> None:
    result = weft("collectives", "list", "allreduce")
    assert result.returncode == 0
    assert "rabenseifner" in result.stdout and "pairwise" not in result.stdout
    assert "selection openmpi-4.1: Open MPI 4.1" in result.stdout
    assert "pairwise" in weft("collectives", "list").stdout


def test_only_reductions_need_a_commutative_operation() -> None:
    for line in weft("collectives", "list").stdout.splitlines():
        name, *_ = line.split()
        if "commutative" in line:
            assert "reduce" in name
        assert line.rstrip().endswith("two ranks") == ("two_proc" in line), line


def test_messages_are_shown_round_by_round(tmp_path: Path) -> None:
    table = tmp_path / "messages.csv"
    words = ("collectives", "show", "allreduce", "-n", "8", "--bytes", "1KiB", "--csv", str(table))
    result = weft(*words)
    assert "allreduce by recursive_doubling, 8 ranks, 1 KiB" in result.stdout
    assert "24 messages in 3 rounds, 24 KiB in all" in result.stdout
    lines = table.read_text().splitlines()
    assert lines[:2] == ["round,from,to,bytes", "0,0,1,1024"]
    assert len(lines) == 25


def test_a_selection_of_ones_own_is_taken(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(OWN)
    shown = schedules.schedule(Case("bcast", 4, 8192, selection=str(own)))
    assert (shown.algorithm, shown.segment_bytes, len(shown.messages)) == ("pipeline", 1024, 24)
    assert schedules.schedule(Case("bcast", 4, 100, selection=str(own))).algorithm == "binomial"
    with pytest.raises(_core.UserError, match="no algorithm for barrier of 4 ranks"):
        schedules.schedule(Case("barrier", 4, selection=str(own)))


def test_a_rule_may_be_for_calls_that_do_not_block(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    rule = '[[rule]]\ncollective = "bcast"\ncalls = "nonblocking"\nalgorithm = ["chain"]\n'
    own.write_text(OWN + rule)
    words = ("collectives", "show", "bcast", "-n", "4", "--selection", str(own))
    assert weft(*words).stdout.startswith("bcast by binomial, 4 ranks")
    assert weft(*words, "--nonblocking").stdout.startswith("non-blocking bcast by chain, 4 ranks")


def test_open_mpis_own_rules_are_read(tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    rules.write_text("1 # collective\n7 # Bcast\n1\n2\n2\n0 3 0 1024\n8192 0 0 0\n")
    words = ("collectives", "show", "bcast", "-n", "4")
    chosen = weft(*words, "--selection", str(rules), "--bytes", "4KiB").stdout
    assert chosen.startswith("bcast by pipeline, 4 ranks, 4 KiB, root 0, segments of 1 KiB")
    by_itself = weft(*words, "--bytes", "64KiB").stdout
    assert weft(*words, "--selection", str(rules), "--bytes", "64KiB").stdout == by_itself
    with_base = weft(*words, "--selection", f"openmpi-4.1+{rules}", "--bytes", "4KiB").stdout
    assert with_base == chosen
    rules.write_text("1\n7\n1\n2\n1\n0 12 0 0\n")
    wrong = weft(*words, "--selection", str(rules))
    assert (wrong.returncode, wrong.stdout) == (2, "")
    told = f'{rules}:6: algorithm of bcast: found "12"; allowed: a whole number from 0 to 9'
    assert told in wrong.stderr and wrong.stderr.count("\n") == 1


def test_collectives_may_have_mpis_names() -> None:
    words = ("-n", "4", "--bytes", "1KiB")
    plain = weft("collectives", "show", "allreduce", *words).stdout
    assert weft("collectives", "show", "MPI_Allreduce", *words).stdout == plain
    shown = weft("collectives", "show", "MPI_Iallreduce", *words).stdout
    assert shown == weft("collectives", "show", "allreduce", *words, "--nonblocking").stdout
    assert shown.startswith("non-blocking allreduce by nbc_")
    assert "ring" in weft("collectives", "list", "MPI_Allreduce").stdout


def test_titles_say_what_bytes_are_of_and_who_is_where() -> None:
    gather = ("collectives", "show", "gatherv", "-n", "4")
    shown = weft(*gather, "--ranks-per-host", "9").stdout
    assert shown.startswith("gatherv by basic_linear, 4 ranks, 1 KiB in a block, all on one host")
    assert "3 messages in 1 round, 3 KiB in all" in shown


def test_ranks_may_share_hosts() -> None:
    words = ("collectives", "show", "allreduce", "-n", "6")
    assert weft(*words).stdout.startswith("allreduce by recursive_doubling, 6 ranks, 1 KiB")
    shown = weft(*words, "--ranks-per-host", "2").stdout
    assert shown.startswith("allreduce by han, 6 ranks, 1 KiB, 2 on each host")


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_a_picture_is_drawn(tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"ring{suffix}"
    words = ("collectives", "show", "allreduce", "-n", "4", "--bytes", "4KiB")
    result = weft(*words, "--algorithm", "ring", "-o", str(target))
    assert (result.returncode, result.stderr) == (0, "")
    assert target.stat().st_size > 1000


def test_what_each_rank_adds_up_is_known() -> None:
    shown = schedules.schedule(Case("reduce", 4, 1024, algorithm="linear"))
    assert shown.combined_bytes == [3 * 1024, 0, 0, 0]
    assert shown.busiest_bytes == 1024


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("list allreduc", "COLLECTIVE: found 'allreduc'"),
        ("show allreduc -n 4", "COLLECTIVE: found 'allreduc'"),
        ("show allreduce -n 4 --algorithm rng", "--algorithm: found 'rng'; did you mean ring"),
        ("show allreduce -n 4 --algorithm ring --ordered", "needs a commutative operation"),
        ("show bcast -n 4 --root 4", "--root: found 4; allowed: 0 to 3"),
        ("show bcast -n 4 --selection openmpi", "--selection: found 'openmpi'; did you mean"),
        ("show bcast -n 4 --bytes 7 --element 4", "--bytes: found 7; allowed: a multiple of"),
        ("show barrier -n 4 --algorithm two_proc", "--algorithm: found 'two_proc' for 4 ranks"),
        ("show bcast -n 4 --segment 1KiB", "--segment: found 1024; it requires --algorithm"),
        ("show bcast -n 4 --fan-out 2", "--fan-out: found 2; it requires --algorithm"),
        ("show bcast -n 4 --selection no.conf", "--selection: cannot read no.conf"),
        ("show bcast -n 65 -o x.png", "-n: found 65; a picture shows at most 64 ranks"),
    ],
)
def test_wrong_input_is_one_message(
    line: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = weft("collectives", *line.split())
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("weft: ") and result.stderr.count("\n") == 1
    assert message in result.stderr
    assert not list(tmp_path.iterdir())


def test_a_wrong_selection_is_told_with_its_place(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text(OWN.replace("pipeline", "pipelin"))
    result = weft("collectives", "show", "bcast", "-n", "4", "--selection", str(own))
    assert result.returncode == 2
    assert f'{own}: [rule] algorithm: found "pipelin"; did you mean "pipeline"?' in result.stderr
