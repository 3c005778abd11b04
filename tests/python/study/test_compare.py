# SPDX-License-Identifier: LGPL-2.1-only
"""`--compare`: a run with offload, a run without, and the gain."""

import io
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from rich.console import Console

import weft
from tests.python.runs.test_record import raw
from tests.support.places import TESTS
from tests.support.simulated import WEFT, Program, Result, run_command
from weft.base.units import format_ratio
from weft.runs.html import record_as_html
from weft.runs.record import Record, read_record
from weft.runs.record_data import CollectivePart, OutcomePart, ProfilePart
from weft.runs.tables import as_text
from weft.study.comparison.comparison import Comparison, write_comparison
from weft.study.comparison.views import comparison_as_html, comparison_as_text, print_comparison

COMPARE = (*WEFT, "run", "--fabric", "tofino-4", "-n", "4", "--compare")
RECORD = TESTS.parent / "docs" / "record.md"
FALLBACK = {"path": "fallback", "reason": "policy", "algorithm": "recursive_doubling"}


def record(*rows: dict[str, Any], **changes: Any) -> Record:
    data = raw()
    data["collectives"] = [{**data["collectives"][0], **row} for row in rows]
    made = Record.from_json(data)
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def compared(program: Path, *arguments: str, options: tuple[str, ...] = (), **more: Any) -> Result:
    return run_command([*COMPARE, *options, "--", str(program), *arguments], **more)


@pytest.fixture
def sums(program: Program) -> Path:
    return program("compared.c")


# ---- The numbers -----------------------------------------------------------------------------


def test_a_gain_is_the_hosts_time_by_the_switches() -> None:
    both = Comparison(
        record({"total_time_s": 3.2e-4}, simulated_time_s=1e-4),
        record({**FALLBACK, "total_time_s": 8e-4}, simulated_time_s=2.5e-4),
    )
    (gain,) = both.gains()
    assert (gain.time_s, gain.time_without_s) == (8e-5, 2e-4)  # per rank, of four
    assert (gain.speed_up, both.speed_up) == (2.5, 2.5)
    assert (gain.paths, gain.reasons, gain.algorithms) == (
        ("stream",),
        ("offloaded",),
        ("recursive_doubling",),
    )


def test_a_gain_states_the_waits_for_late_ranks() -> None:
    both = Comparison(
        record({"total_wait_s": 4e-5}, {"path": "message", "total_wait_s": 8e-5}),
        record({**FALLBACK, "total_wait_s": 2e-4}),
    )
    (gain,) = both.gains()
    assert (gain.wait_s, gain.wait_without_s) == pytest.approx((3e-5, 5e-5))  # per rank, of four
    assert gain.wait_best_s is None


def test_calls_of_one_kind_that_went_several_ways_are_one_gain() -> None:
    fallen = {**FALLBACK, "reason": "no free channel", "calls": 2, "total_time_s": 1e-4}
    both = Comparison(record(fallen, {}), record({**FALLBACK, "calls": 12, "total_time_s": 1e-3}))
    (gain,) = both.gains()
    assert (gain.calls, gain.calls_without) == (12, 12)
    assert gain.paths == ("stream", "recursive_doubling")
    assert gain.reasons == ("offloaded", "no free channel")
    assert gain.time_s == pytest.approx((3.2e-4 + 1e-4) / 4)


@pytest.mark.parametrize("width", [1, *range(5, 120, 5)])
def test_no_terminal_is_too_narrow_for_a_comparison(width: int) -> None:
    stream = io.StringIO()
    theirs = record({**FALLBACK, "total_time_s": 12.3456}, simulated_time_s=7654.321)
    print_comparison(Comparison(record({}), theirs), Console(file=stream, width=width))
    cells = {"allreduce", "stream", "80.000", "38,580"}
    assert cells <= set(stream.getvalue().split())


def test_eighty_columns_are_a_table() -> None:
    """One line per cell is hard to read; a table of these runs has lines of at most 80 columns."""
    stream = io.StringIO()
    theirs = record({**FALLBACK, "total_time_s": 12.3456})
    other = {"datatype": "MPI_DOUBLE", "path": "fallback", "algorithm": "recursive_doubling"}
    both = Comparison(record({}, {**FALLBACK, **other}), theirs)
    print_comparison(both, Console(file=stream, width=80))
    title, head, *rows = stream.getvalue().splitlines()
    assert title.startswith("Time per rank")
    assert head.split()[0] == "collective"
    assert {"path", "calls", "offload(us)", "hosts(us)", "speed-up"} <= set(head.split())
    assert all(len(line) <= 80 for line in (head, *rows[:2], *rows[-3:]))
    assert rows[-3] == "no gain"


def profile(**means: float) -> list[ProfilePart]:
    return [
        ProfilePart(kind=kind.replace("_", "-"), calls=4, least_s=0, mean_s=mean_s, most_s=mean_s)
        for kind, mean_s in means.items()
    ]


def test_what_else_took_time_is_shown() -> None:
    ours, theirs = record({}, simulated_time_s=1e-4), record(FALLBACK, simulated_time_s=2e-4)
    ours.profile = profile(collectives=8e-5, point_to_point=2e-5, polls=0)
    theirs.profile = profile(collectives=1.4e-4, point_to_point=6e-5)
    both = Comparison(ours, theirs)
    assert [(share.kind, share.speed_up) for share in both.shares()] == [
        ("collectives", pytest.approx(1.75)),
        ("point-to-point", pytest.approx(3)),
        ("polls", None),
    ]
    stream = io.StringIO()
    print_comparison(both, Console(file=stream, width=200))
    rows = [line.split() for line in stream.getvalue().splitlines()[3:5]]
    assert rows == [
        ["point-to-point", "20.000", "60.000", "3.00"],
        ["whole", "run", "100.000", "200.000", "2.00"],
    ]


def test_rows_that_are_no_part_of_the_sum_are_in_parentheses() -> None:
    """Between start and completion of an MPI_Iallreduce, a rank does not only wait for it."""
    started = {"collective": "iallreduce", "total_time_s": 8e-5}
    both = Comparison(record({}, started), record(FALLBACK, {**FALLBACK, **started}))
    stream = io.StringIO()
    print_comparison(both, Console(file=stream, width=1000))
    text = stream.getvalue()
    (row,) = (line.split() for line in text.splitlines() if line.startswith("iallreduce"))
    assert row.count("(20.000)") == 2
    assert "(in parentheses) iallreduce: from the call to its completion" in text
    print_comparison(Comparison(record({}), record(FALLBACK)), Console(file=(own := io.StringIO())))
    assert "(" not in own.getvalue().splitlines()[2]
    assert "in parentheses" not in own.getvalue()


@pytest.mark.parametrize(
    ("hosts_used", "changes", "said"),
    [
        (2, {}, True),
        (4, {}, False),  # no host has two ranks
        (2, {"collectives": [], "profile": profile(point_to_point=1e-6)}, True),
        (2, {"collectives": [], "profile": profile(other_MPI_calls=1e-6)}, False),
    ],
)
def test_values_measured_on_other_hosts_are_said_in_every_view(
    hosts_used: int, changes: dict[str, Any], said: bool
) -> None:
    """Regression: the lines of a run said them, those of a comparison and notebooks did not."""
    runs = [record(row, hosts_used=hosts_used, **changes) for row in (FALLBACK, FALLBACK)]
    for one in runs:
        one.fabric.unmeasured = ["memory_bandwidth"]
    both = Comparison(runs[0], runs[1])
    line = "[host] values that were not measured on these hosts: memory_bandwidth"
    views = [as_text(runs[0]), comparison_as_text(both)]
    views += [record_as_html(runs[0]), comparison_as_html(both)]
    assert [line in view for view in views] == [said] * 4


def test_a_time_that_nobody_sees_has_no_gain() -> None:
    both = Comparison(record({}), record({**FALLBACK, "total_time_s": None}))
    (gain,) = both.gains()
    assert (gain.time_without_s, gain.speed_up) == (None, None)


def test_calls_of_one_run_alone_are_shown() -> None:
    both = Comparison(record({}), record({**FALLBACK, "collective": "bcast"}))
    assert {(gain.collective, gain.calls, gain.calls_without) for gain in both.gains()} == {
        ("allreduce", 10, 0),
        ("bcast", 0, 10),
    }


def test_a_run_that_did_not_end_is_compared_with_nothing(tmp_path: Path) -> None:
    crashed = record(outcome=OutcomePart(kind="signal", message="the program crashed"))
    for both in (Comparison(crashed, None), Comparison(record({}), crashed)):
        assert not both.complete
        assert (both.speed_up, both.gains()) == (None, [])
        write_comparison(both, tmp_path / "both.json")
        assert json.loads((tmp_path / "both.json").read_text())["speed_up"] is None
    assert Comparison(replace(crashed, exit_status=139), None).exit_status == 139
    assert Comparison(record({}), replace(crashed, exit_status=3)).exit_status == 3


# ---- Two runs --------------------------------------------------------------------------------


def test_a_comparison_says_what_was_gained(sums: Path, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("both.json", "both.trace", "with.json", "without.json")]
    options = ("--json", str(files[0]), "--trace", str(files[1]), "--fallback", "ring")
    result = compared(sums, options=options)
    assert (result.status, result.stdout) == (0, "done\n")
    document = json.loads(files[0].read_text())
    check_document(document)
    check_table(result.stderr.splitlines(), document)
    check_timeline(json.loads(files[1].read_text())["traceEvents"])
    for path, name in zip(files[2:], ("with_offload", "without_offload"), strict=True):
        path.write_text(json.dumps(document[name]))
        assert read_record(path).simulated_time_s > 0


def check_document(document: dict[str, Any]) -> None:
    assert document["schema"] == "weft-compare/1"
    said = RECORD.read_text(encoding="utf-8").partition("## Comparisons")[2]
    assert set(re.findall(r"^\| (\w+) \|", said, re.MULTILINE)) == {"key", *document}
    assert set(re.findall(r"`(\w+)`", said)) >= set(document["gains"][0])
    ours, theirs = document["with_offload"], document["without_offload"]
    assert (ours["offload"], theirs["offload"]) == ("stream", "off")
    assert ours["fallback"] == theirs["fallback"] == "ring"
    assert document["speed_up"] == theirs["simulated_time_s"] / ours["simulated_time_s"] > 1
    ints = document["gains"][0]
    assert (ints["collective"], ints["datatype"], ints["calls"]) == ("allreduce", "MPI_INT", 5)
    assert ints["speed_up"] == ints["time_without_s"] / ints["time_s"] > 1
    best = document["with_best"]
    assert (best["offload"], best["fallback"]) == ("off", "best")
    assert document["speed_up"] > document["speed_up_over_best"] > 1
    assert ints["speed_up_over_best"] == ints["time_best_s"] / ints["time_s"]
    assert ints["algorithms_best"] != ints["algorithms"] == ["ring"]


def check_table(lines: list[str], document: dict[str, Any]) -> None:
    assert lines[0] == "Time per rank in all calls, --offload stream and off"
    assert " ".join(lines[1].split()) == (
        "collective ranks type, op path reason calls bytes offload(us) host algorithm hosts(us)"
        " speed-up"
        " over best"
    )
    ints = document["gains"][0]
    assert lines[2].split() == [
        *("allreduce", "4", "INT,", "SUM", "stream", "offloaded", "5", "320", "KiB"),
        f"{ints['time_s'] * 1e6:.3f}",
        "ring",
        f"{ints['time_without_s'] * 1e6:.3f}",
        f"{ints['speed_up']:.2f}",
        f"{ints['speed_up_over_best']:.2f}",
    ]
    said = {
        name: f"{document[f'speed_up{name}']:.2f} times as fast ({ends[0]} to {ends[1]}, 80 %)"
        for name in ("", "_over_best")
        for ends in [[format_ratio(document[f"certainty{name}"][end]) for end in ("low", "high")]]
    }
    assert lines[-4:-1] == [
        said[""],
        f"over --fallback best: {said['_over_best']}",
        "4 ranks on 4 hosts of tofino-4",
    ]
    assert re.fullmatch(
        r"simulated time [\d.]+ us with stream; without, [\d.]+ us \(ring\), [\d.]+ us \(best\)",
        lines[-1],
    )
    assert "fallback (datatype): the switch does not support this datatype" in lines


def check_timeline(events: list[dict[str, Any]]) -> None:
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert list(names.values()) == [
        "ranks, --offload stream",
        "switches; by the hosts: allreduce (datatype), barrier (collective), --offload stream",
        "ranks, --offload off",
        "switches, --offload off",
    ]
    ends = [
        max(event["ts"] + event["dur"] for event in events if (event["pid"], event["ph"]) == key)
        for key in zip((pid for pid, name in names.items() if "ranks" in name), "XX", strict=True)
    ]
    assert ends[0] < ends[1]


def test_both_runs_read_the_same_file(sums: Path, tmp_path: Path) -> None:
    (tmp_path / "input").write_text("one\ntwo\n")
    with (tmp_path / "input").open() as file:
        result = subprocess.run(
            [*COMPARE, "-q", "--json", str(tmp_path / "both.json"), "--", str(sums)],
            stdin=file,
            text=True,
            capture_output=True,
            check=False,
        )
        assert file.buffer.raw.tell() == 8  # type: ignore[attr-defined]
    assert (result.stdout, result.stderr) == ("read one\nread two\ndone\n", "")


def test_a_pipe_is_no_input_and_that_is_said(sums: Path) -> None:
    result = subprocess.run(
        [*COMPARE, "-q", "--", str(sums)],
        input="one\n",
        text=True,
        capture_output=True,
        check=False,
    )
    assert (result.returncode, result.stdout) == (0, "done\n")
    assert result.stderr == (
        "weft: --compare: the program had no input, since a pipe can be read only once; write the"
        " input to a file: < FILE\n"
    )


def test_a_first_run_that_crashes_is_the_last(sums: Path, tmp_path: Path) -> None:
    path = tmp_path / "both.json"
    result = compared(sums, "crash", "stream", options=("--json", str(path)))
    assert result.status == 134
    assert result.messages[0].startswith("weft: rank 0 crashed (SIGABRT)")
    assert result.messages[1].startswith("weft: --compare: there is no run without offload")
    assert json.loads(path.read_text())["without_offload"] is None


def test_a_second_run_that_crashes_is_told_and_the_first_is_not_lost(
    sums: Path, tmp_path: Path
) -> None:
    path = tmp_path / "both.json"
    result = compared(sums, "crash", "off", options=("--json", str(path)))
    assert (result.status, result.stdout) == (134, "done\n")
    assert "4 ranks on 4 hosts of tofino-4: simulated time" in result.stderr
    assert "about to crash" in result.stderr
    assert result.messages[-1].startswith(
        "weft: --compare: in the run without offloading: rank 0 crashed (SIGABRT)"
    )
    document = json.loads(path.read_text())
    assert (document["exit_status"], document["speed_up"]) == (134, None)


def test_a_full_disk_does_not_cost_the_table(sums: Path) -> None:
    result = compared(sums, options=("--json", "/dev/full"))
    assert result.status == 2
    assert "times as fast" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("weft: --json: cannot write /dev/full")


@pytest.mark.parametrize("offload", ["stream", "off"])
def test_a_program_with_a_status_of_its_own_is_compared(sums: Path, offload: str) -> None:
    result = compared(sums, "exit", offload)
    assert result.status == 3
    assert "times as" in result.stderr
    assert "rank 0 ended with exit status 3" in result.messages[-1]


def test_ctrl_c_in_the_second_run_shows_the_first(sums: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    weft = subprocess.Popen(
        [*COMPARE, "--json", str(tmp_path / "both.json"), "--", str(sums), "wait", "off"],
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )
    errors = wait_for(tmp_path, "waiting")
    weft.send_signal(signal.SIGINT)
    out, err = weft.communicate(timeout=20)
    assert errors
    assert (weft.returncode, out) == (130, "done\n")
    assert "allreduce" in err
    assert err.endswith("weft: interrupted\n")
    assert not list(tmp_path.iterdir())


def wait_for(folder: Path, text: str) -> bool:
    """Wait until the second run's error output contains a text."""
    for _ in range(600):
        if any(text in path.read_text() for path in folder.glob("weft-*/errors")):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--offload", "off"), "--compare: found together with --offload off"),
        (("--record", "t"), "--record: found together with --compare"),
    ],
)
def test_what_goes_with_no_comparison_is_refused(
    sums: Path, options: tuple[str, ...], says: str
) -> None:
    result = compared(sums, options=options)
    assert (result.status, result.stdout, len(result.messages)) == (2, "", 1)
    assert says in result.stderr


def test_a_replay_is_compared_too(program: Program, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    run = [*WEFT, "run", "-q", "--fabric", "tofino-4", "-n", "4", "--record", str(trace)]
    assert run_command([*run, "--", str(program("regular.c")), "collectives"]).status == 0
    result = run_command([*WEFT, "replay", str(trace), "--fabric", "tofino-16", "--compare"])
    assert result.status == 0, result.stderr
    assert "4 ranks on 4 hosts of tofino-16" in result.stderr.splitlines()


def test_who_has_the_best_anyway_is_compared_with_it_once(sums: Path, tmp_path: Path) -> None:
    path = tmp_path / "both.json"
    result = compared(sums, options=("--fallback", "best", "--json", str(path)))
    document = json.loads(path.read_text())
    assert document["with_best"] is document["speed_up_over_best"] is None
    assert document["without_offload"]["fallback"] == "best"
    assert "over best" not in result.stderr


def test_the_run_with_the_best_algorithms_can_be_skipped(sums: Path, tmp_path: Path) -> None:
    path = tmp_path / "both.json"
    result = compared(sums, options=("--no-best", "--json", str(path)))
    document = json.loads(path.read_text())
    assert document["with_best"] is document["speed_up_over_best"] is None
    assert document["without_offload"]["fallback"] == "openmpi-5.0"
    assert "fallback best" not in result.stderr
    found = weft.compare(sums, ranks=4, fabric="tofino-4", best=False)
    assert found.best is None
    assert found.speed_up == document["speed_up"]


def test_where_nothing_is_offloaded_there_is_no_gain(sums: Path) -> None:
    result = run_command([*WEFT, "run", "--fabric", "star-8", "-n", "4", "--compare", str(sums)])
    lines = result.stderr.splitlines()
    why = "Nothing was offloaded: no smart switch connects all hosts of the communicator"
    (place,) = [number for number, line in enumerate(lines) if line.startswith(why)]
    assert "no gain" in lines[place + 1 :]


def test_the_path_of_a_row_is_what_did_it() -> None:
    row = raw()["collectives"][0]
    assert CollectivePart.from_json(row).way == "stream"
    assert CollectivePart.from_json({**row, **FALLBACK}).why == "policy"
