# SPDX-License-Identifier: LGPL-2.1-only
"""API calls other than runs and campaigns return the output of the corresponding commands."""

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import weft
from tests.support import simulated
from tests.support.p4_servers import serving


def command(*words: str) -> simulated.Result:
    result = simulated.run_command([*simulated.WEFT, *words])
    assert result.status == 0, result.stderr
    return result


def csv(path: Path) -> pl.DataFrame:
    return pl.read_csv(path, comment_prefix="#")


# ---- Fabrics and collectives


def test_fabrics_are_listed_shown_drawn_and_exported(tmp_path: Path) -> None:
    names = [line.split()[0] for line in command("fabric", "list").stdout.splitlines()]
    assert weft.fabrics()["name"].to_list() == names
    fabric = weft.Fabric("tofino-4", {"switch.slots": 64})
    changed = ("--set", "switch.slots=64")
    assert command("fabric", "show", "tofino-4", *changed).stdout == f"{fabric.describe()}\n"
    assert command("fabric", "check", "tofino-4", *changed).stdout == f"{fabric.check()}\n"
    assert fabric.frame()["slots"].to_list() == [64]
    assert len(fabric.frame("cables")) == fabric.links // 2 == 4
    assert weft.Fabric(fabric, {"switch.slots": 32}).frame()["slots"].to_list() == [32]
    fabric.plot(tmp_path / "fabric.svg")
    assert fabric.export(tmp_path / "fabric.xml") != []
    assert (tmp_path / "fabric.svg").stat().st_size > 1000
    keys = weft.fabric_options()
    assert keys.filter(table="switch", key="slots")["type"].to_list() == ["integer"]
    assert fabric._repr_html_() == fabric._repr_html_()


def test_a_new_fabric_is_that_of_the_command_and_says_what_it_took(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="not measured on your devices but taken from the hosts"):
        made = weft.new_fabric("torus", tmp_path / "mine.toml", dimensions=[4, 4])
    assert len(made.hosts) == 16
    assert "taken from tofino-4" in made.note
    theirs = tmp_path / "theirs.toml"
    command("fabric", "new", "torus", "--dimensions", "4,4", "--name", "mine", "-o", str(theirs))
    assert made.file.read_text() == theirs.read_text()
    with pytest.raises(weft.WeftError, match="found 'dimension'; did you mean dimensions"):
        weft.new_fabric("torus", tmp_path / "other.toml", dimension=[4, 4])
    with pytest.raises(weft.WeftError, match=r"mine.toml"):
        weft.new_fabric("torus", tmp_path / "mine.toml", dimensions=[4, 4])


@pytest.mark.parametrize(("collective", "modes"), [("allreduce", "ring"), ("bcast", "multicast")])
def test_a_bench_is_that_of_the_command(collective: str, modes: str, tmp_path: Path) -> None:
    table, seen = tmp_path / "table.csv", []
    where = ("--fabric", "tofino-16", "-n", "4", "--sizes", "4KiB,8KiB")
    command("bench", collective, *where, "--modes", f"stream,{modes}", "--csv", str(table))
    name: Any = collective
    with pytest.warns(UserWarning) if collective == "bcast" else _nothing():
        frame = weft.bench(
            name,
            "tofino-16",
            4,
            sizes=["4KiB", 8192],
            modes=["stream", modes],
            on_size=lambda mode, size: seen.append((mode, size)),
        )
    theirs = csv(table)
    assert frame.columns == theirs.columns
    assert frame["latency_us"].to_list() == pytest.approx(theirs["latency_us"].to_list(), rel=1e-6)
    assert len(seen) == 4


class _nothing:  # noqa: N801 (stands where pytest.warns does)
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def test_schedules_of_collectives(tmp_path: Path) -> None:
    schedule = weft.collective_schedule("MPI_Allreduce", 8, "1KiB", algorithm="ring", element=4)
    table = tmp_path / "messages.csv"
    words = ("-n", "8", "--bytes", "1KiB", "--algorithm", "ring", "--element", "4")
    command("collectives", "show", "allreduce", *words, "--csv", str(table))
    theirs = csv(table).rename({"from": "sender", "to": "receiver"})
    assert schedule.frame().equals(theirs)
    assert (schedule.algorithm, schedule.rounds) == ("ring", 14)
    schedule.plot(tmp_path / "ring.png")
    names = weft.collective_algorithms("allreduce")["name"].to_list()
    assert "rabenseifner" in names
    assert "openmpi-5.0" in weft.collective_selections()["name"].to_list()


# ---- Measurements


@pytest.mark.slow
def test_fits_are_those_of_the_commands(tmp_path: Path) -> None:
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    mine.mkdir()
    theirs.mkdir()
    messages = weft.calibrate_p2p("p2p_azure_hc44rs_mpi", mine / "p2p.toml", rows="even")
    words = ("p2p_azure_hc44rs_mpi", "--rows", "even")
    command("calibrate", "p2p", *words, "-o", str(theirs / "p2p.toml"))
    assert (mine / "p2p.toml").read_text() == (theirs / "p2p.toml").read_text()
    assert 0 < messages.error.mean < 0.2
    switch = weft.calibrate_switch(
        "tofino_osu_allreduce_4x1",
        base="tofino-4",
        path=mine / "switch.toml",
        column="mpitofino_us",
    )
    switch_words = ("tofino_osu_allreduce_4x1", "--base", "tofino-4", "--column", "mpitofino_us")
    command("calibrate", "switch", *switch_words, "-o", str(theirs / "switch.toml"))
    own, other = ((folder / "switch.toml").read_text() for folder in (mine, theirs))
    assert own.replace(".csv", "") == other.replace(".csv", "")
    assert all(error.mean < 0.2 for error in switch.errors.values())


@pytest.mark.slow
def test_an_own_table_is_validated_and_this_machine_measured(tmp_path: Path) -> None:
    table = tmp_path / "own.csv"
    table.write_text("bytes,time_us\n64,10\n1024,12\n")
    found = weft.validate(table, fabric="tofino-4", mode="stream", benchmark="osu", mean=0.5)
    assert found.rows()["measured_us"].to_list() == [10, 12]
    assert found.frame()["holds"].to_list() == [found.holds]
    with pytest.raises(weft.WeftError, match="fabric: applies to your own table"):
        weft.validate(fabric="tofino-4")
    speed = weft.calibrate_cpu(repetitions=1)
    assert speed.flops > 1e8
    assert speed.text.endswith("Gf")


# ---- Caches and engines


def test_studies_of_caches_are_those_of_the_commands(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    for study, words in (
        (
            weft.cache_ways([64, 128], ways=[1, 2]),
            ("ways", "--destinations", "64,128", "--ways=1,2"),
        ),
        (weft.cache_capacity([2, 4], dimensions=2), ("capacity", "--sizes=2,4", "--dimensions=2")),
        (
            weft.cache_traffic("torus-3x3", messages=1000, hash=["crc"]),
            ("traffic", "torus-3x3", "--messages", "1000", "--hash", "crc"),
        ),
        (weft.cache_jobs(), ("jobs",)),
    ):
        command("cache", *words, "--csv", str(table))
        theirs = csv(table)
        assert study.frame().columns == theirs.columns
        assert study.frame().rows() == theirs.rows()
    proof = weft.cache_hash("torus-3x3")
    assert command("cache", "hash", "torus-3x3").stdout == f"{proof.text}\n"
    assert len(proof.addresses()) == 9
    assert len(proof.tags("switch-0")) > 0
    assert "64-ary 4-cube" in weft.cache_hash(cube=weft.Cube(64, 4)).text
    assert weft.cache_rate(4.0)["bytes_per_s"].to_list()[0] == pytest.approx(84 / 4e-9)


def test_progress_engines(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    command("progress-engine", "throughput", "bluefield-3-dpa", "--csv", str(table))
    mine = weft.progress_engine_throughput("bluefield-3-dpa")
    assert mine["chunks_per_s"].to_list() == pytest.approx(csv(table)["chunks_per_s"].to_list())
    assert math.isclose(weft.progress_engine_memory("bluefield-3-dpa")["psn_bits"].to_list()[0], 10)


# ---- Testbeds


def test_a_switch_is_filled_changed_and_looked_at(tmp_path: Path) -> None:
    star, pair = (weft.testbed_plan("topocloud-64", [one]) for one in ("star-8", "server-pair"))
    with serving() as serve:
        address, history = serve()
        switch = weft.P4Switch(address)
        star.up(switch=switch)
        with pytest.raises(
            weft.WeftError, match="listen: applies to namespace testbeds, and switch"
        ):
            star.up(switch=switch, listen="127.0.0.1:1")
        with pytest.raises(
            weft.WeftError, match="replace: applies to switches, and switch is not giv"
        ):
            star.up(replace=True)
        with pytest.raises(weft.WeftError, match=r"has 25 entries already.* give replace"):
            pair.up(switch=switch)
        with pytest.raises(weft.WeftError, match=r"OLD differs from the switch .* it lacks server"):
            pair.change_to(star, switch=switch)
        assert star.change_to(pair, switch=switch).experiments == ["server-pair"]
        (row,) = weft.testbed_status(switch=switch, plan=star).to_dicts()
        assert row["state"].startswith("2 entries (wire_table 2), 0 slices; primary controller: n")
        assert row["difference"].startswith("it lacks star-8 (25 entries)")
        assert star.apply(switch=switch).experiments == ["star-8"]  # applicable from any state
        assert len(history[-1]) == 25
        assert weft.testbed_status(switch=switch, plan=star)["difference"].to_list() == [""]
        assert weft.testbed_down(switch=switch) > 0
        star.up(switch=switch)
        pair.up(switch=switch, replace=True)
        assert len(history[-1]) == 2
    with pytest.raises(weft.WeftError, match="name: no plan of 'no-such' is recorded as running"):
        weft.testbed_running("no-such")
    with pytest.raises(weft.WeftError, match="plan: applies to one testbed; give its name"):
        weft.testbed_status(plan=star)


def test_testbeds_are_planned_shown_and_changed(tmp_path: Path) -> None:
    names = [line.split()[0] for line in command("testbed", "list").stdout.splitlines()]
    assert weft.testbed_inventories()["name"].to_list() == names
    plan = weft.testbed_plan("topocloud-64", ["ring-6"])
    plan.save(tmp_path / "mine.json")
    theirs = tmp_path / "theirs.json"
    command("testbed", "plan", "topocloud-64", "ring-6", "-o", str(theirs))
    assert json.loads((tmp_path / "mine.json").read_text()) == json.loads(theirs.read_text())
    assert (plan.experiments, weft.TestbedPlan(theirs).recirculated) == (
        ["ring-6"],
        plan.recirculated,
    )
    assert set(plan.frame()["experiment"]) == {"", "ring-6"}
    assert len(plan.latency()) == 12 * 11 // 2
    written = plan.write_tables(tmp_path / "tables")
    command("testbed", "tables", str(theirs), "-o", str(tmp_path / "their-tables"))
    for file in written:
        assert file.read_text() == (tmp_path / "their-tables" / file.name).read_text()
    both = weft.testbed_plan("topocloud-64", ["line-4"], keep=plan)
    assert both.experiments == ["ring-6", "line-4"]
    change = plan.diff(both)
    assert set(change.frame()["step"]) == {"add"}
    change.save(tmp_path / "change.txt")
    assert change.plan.experiments == both.experiments
    plan.plot(tmp_path / "plan.png")
    plan.write_fabric(tmp_path / "planned.toml")
    assert len(weft.Fabric(tmp_path / "planned.toml").hosts) == 12
    seen: list[str] = []
    weft.testbed_iterate("topocloud-64", ["ring-6", "line-4"], ["true"], on_step=seen.append)
    assert seen == ["ring-6", "line-4"]
    assert weft.testbed_paper()["over"].to_list() == ["direct", "chassis", "l2"]
    with pytest.raises(weft.WeftError, match="end: found 'x' without keep"):
        weft.testbed_plan("topocloud-64", ["ring-6"], end=["x"])


def test_a_probes_round_trips(tmp_path: Path) -> None:
    table = tmp_path / "probe.csv"
    table.write_text("c1,s1,s2,c2\n0,5,6,11\n0,5,6,21\n0,5,6,31\n")
    frame = weft.testbed_probe(table)
    assert frame["count"].to_list() == [3]
    assert frame["p50_ns"].to_list() == [20]
