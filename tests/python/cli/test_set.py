# SPDX-License-Identifier: LGPL-2.1-only
"""Overrides of a fabric file's keys: `--set` and its short forms."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import simulated
from tests.support.simulated import Program, Run, weft
from weft import _core
from weft.base.errors import WeftError
from weft.runs.site import load_fabric

FILE = Path(_core.load_fabric("tofino-4").file)


def changed_file(tmp_path: Path, old: str, new: str) -> str:
    """Return a copy of tofino-4's file with one line changed."""
    text = FILE.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path = tmp_path / "changed.toml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return str(path)


def test_a_changed_key_does_what_a_changed_file_does(run: Run, tmp_path: Path) -> None:
    slow = changed_file(tmp_path, 'bandwidth = "100Gbps"', 'bandwidth = "10Gbps"')
    by_file = run("calls.c", "int-sum", on=slow).record
    changed = run("calls.c", "int-sum", options=["--set", "link.bandwidth=10Gbps"])
    assert changed.record["simulated_time_s"] == by_file["simulated_time_s"]
    assert changed.record["links"] == by_file["links"]
    assert changed.record["fabric"]["changes"] == ["link.bandwidth=10Gbps"]
    assert "tofino-4 (link.bandwidth=10Gbps)" in changed.stderr
    assert "changes" not in by_file["fabric"]
    plain = run("calls.c", "int-sum").record
    assert plain["simulated_time_s"] < by_file["simulated_time_s"]


def test_a_preset_can_be_changed_and_keys_of_it(run: Run) -> None:
    options = ["--set", "switch.preset=ideal", "--set", "switch.slots=16"]
    record = run("calls.c", "int-sum", options=options).record
    assert [one["preset"] for one in record["switches"]] == ["ideal"]
    fabric = load_fabric("tofino-4", ["switch.slots=16"])
    assert "16 slots" in fabric.describe()
    assert fabric.changes == ["switch.slots=16"]


def test_both_runs_of_a_comparison_are_on_the_changed_fabric(
    program: Program, tmp_path: Path
) -> None:
    file = tmp_path / "both.json"
    options = ["--compare", "--set", "link.latency=3us", "--json", str(file)]
    ran = simulated.run_command(
        simulated.weft_command(program("calls.c"), "int-sum", options=options)
    )
    assert ran.status == 0, ran.stderr
    both = json.loads(file.read_text(encoding="utf-8"))
    assert [both[one]["fabric"]["changes"] for one in ("with_offload", "without_offload")] == [
        ["link.latency=3us"]
    ] * 2


def test_benches_take_changes_and_name_them(tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    words = ["--fabric", "tofino-4", "-n", "4", "--sizes", "1KiB", "--modes", "stream"]
    more = ["--set", "switch.processing_latency=5us", "--csv", str(table)]
    ran = weft("bench", "allreduce", *words, *more)
    assert "on tofino-4 (switch.processing_latency=5us), 4 ranks" in ran.stdout
    (row,) = csv.DictReader(table.read_text(encoding="utf-8").splitlines())
    assert row["fabric"] == "tofino-4 (switch.processing_latency=5us)"
    plain = weft("bench", "allreduce", *words)
    assert float(row["latency_us"]) > float(plain.stdout.split()[-1])


def test_multicast_has_short_forms(run: Run) -> None:
    def multicast(*options: str) -> dict[str, Any]:
        words = ["--offload", "multicast", *options]
        return run("multicast.c", "allgather", "65536", options=words).record

    def drops(record: dict[str, Any]) -> int:
        return sum(row["drops"] for row in record["multicast"])

    long = ["multicast.chains=2", "multicast.trees=2", "multicast.drops=[{probability=0.2}]"]
    told = multicast(*(word for change in long for word in ("--set", change)))
    short = multicast("--chains", "2", "--trees", "2", "--drop-rate", "0.2")
    plain = multicast()
    assert short["fabric"]["changes"] == long
    assert short["simulated_time_s"] == told["simulated_time_s"] != plain["simulated_time_s"]
    assert drops(short) > 0 == drops(plain)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            "switch.slotz=3",
            'with switch.slotz=3: [switch] slotz: unknown key; did you mean "slots"',
        ),
        ("swich.slots=3", 'with swich.slots=3: swich: unknown key; did you mean "switch"'),
        ("link.bandwidth=fast", 'with link.bandwidth=fast: [link] bandwidth: found "fast"'),
        ("slots=3", 'found the change "slots=3"; allowed: TABLE.KEY=VALUE'),
        ("multicast.chains=0", "[multicast] chains: found 0"),
        ("fabric.name=a\nb", "changes: found 'fabric.name=a\\nb'; allowed: TABLE.KEY=VALUE"),
    ],
)
def test_wrong_changes_are_refused(change: str, said: str) -> None:
    with pytest.raises((WeftError, _core.UserError)) as caught:
        load_fabric("tofino-4", [change])
    assert said in str(caught.value)


def test_a_platform_has_no_keys_to_change(tmp_path: Path) -> None:
    platform = tmp_path / "a.xml"
    platform.write_text("<platform/>", encoding="utf-8")
    words = ["--platform", str(platform), "-n", "2", "--set", "link.latency=1us", "--", "/bin/true"]
    ran = weft("run", *words)
    assert ran.status == 2
    assert "--set: found 'link.latency=1us' together with --platform" in ran.stderr
