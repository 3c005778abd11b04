# SPDX-License-Identifier: LGPL-2.1-only
"""Changes of a running testbed: the switch is read first, common parts stay, failures roll back.

Tested on a P4Runtime server whose switch is a list of states, and in namespaces with real frames.
"""

import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.in_process import run
from tests.support.p4_servers import Serve, serving
from weft.base.errors import WeftError
from weft_testbed.hardware import inventory
from weft_testbed.p4.client import Client, pipeline
from weft_testbed.plan import file as plan_file
from weft_testbed.plan import plan, wanted_topology
from weft_testbed.plan.layout import Layout
from weft_testbed.plan.plan import Experiment, Plan
from weft_testbed.running import bridges, diff, linux, probe
from weft_testbed.running import namespaces as netns
from weft_testbed.running import registry as running
from weft_testbed.tables import entry_numbers, tables
from weft_testbed.tables.tables import Entry

CHANGES = 52
NAME = f"change-{os.getpid()}"
REASON = netns.missing()
in_namespaces = pytest.mark.skipif(REASON is not None, reason=f"weft testbed up: {REASON}")
COMING = ("line-4", "server-pair", "fat-tree-8", "torus-3x3", "ring-6", "star-8")


class Said(NamedTuple):
    """Exit status and output of a command."""

    returncode: int
    stdout: str
    stderr: str


def planned(*fabrics: str, on: str = "recirculating-64") -> Plan:
    return plan.make(inventory.read(on), [wanted_topology.read(fabric) for fabric in fabrics])


def entries_of(made: Plan, name: str) -> frozenset[Entry]:
    return entry_numbers.chassis(
        tables.entries(replace(made, experiments=(made.experiment(name),)))
    )


def shuffled(made: Plan, dice: random.Random) -> Plan:
    """Return the same plan with other numbers."""

    def mixed(numbers: Sequence[int], first: int) -> dict[int, int]:
        pool = dice.sample(range(first, first + 2 * len(numbers) + 5), len(numbers))
        return dict(zip(numbers, pool, strict=True))

    places = [at for one in made.experiments for at in one.switches.values() if type(at) is int]
    ends = [port for _, _, way in made.ways for port in way.virtual]
    return plan.relabelled(made, mixed(places, 1), mixed(ends, plan.FIRST_VIRTUAL))


def raised(made: Plan) -> Plan:
    """Return the same plan with numbers that no change assigns while lower ones are free."""
    places = [at for one in made.experiments for at in one.switches.values() if type(at) is int]
    ends = [port for _, _, way in made.ways for port in way.virtual]
    return plan.relabelled(
        made, {at: at + 50 for at in places}, {port: port + 100 for port in ends}
    )


def wandering(first: Plan, kept: str, dice: random.Random) -> Iterator[Plan]:
    """Yield plans that all keep one experiment in place while others come and go."""
    there, now = first.inventory, first
    coming = [wanted_topology.read(name) for name in COMING]
    home: list[Experiment] = [*first.experiments]
    while True:
        away = dice.sample(coming, dice.randint(1, 2))
        stays = [one for one in now.experiments if one.name == kept]
        try:
            now = plan.make(there, away, stays)
        except WeftError:  # not enough servers
            now = plan.make(there, away[:1], stays)
        yield shuffled(now, dice) if dice.random() < 0.5 else now
        back = replace(now, experiments=tuple(home))
        yield shuffled(back, dice) if dice.random() < 0.5 else back


@pytest.fixture
def serve() -> Iterator[Serve]:
    with serving() as start:
        yield start


# ---- Located -------------------------------------------------------------------------------------


@pytest.mark.parametrize("on", ["topocloud-64", "recirculating-64"])
def test_experiments_are_found_under_other_numbers(on: str) -> None:
    dice = random.Random(7)
    for names in (("torus-3x3", "star-8"), ("fat-tree-8", "server-pair"), ("ring-6",)):
        made = planned(*names, on=on)
        for _ in range(5):
            other = shuffled(made, dice)
            found = entry_numbers.compare(made, tables.entries(other))
            assert (found.lacking, found.foreign) == ({}, ())
            moved = {name for name in names if entries_of(made, name) != entries_of(other, name)}
            assert {*found.renumbered} == moved
            for name, numbers in found.renumbered.items():
                alone = replace(made, experiments=(made.experiment(name),))
                again = plan.relabelled(alone, numbers.slices, numbers.virtual)
                assert entries_of(again, name) == entries_of(other, name)


def test_what_is_not_whole_is_not_found() -> None:
    made = planned("torus-3x3", "star-8")
    other = shuffled(made, random.Random(3))
    rest = tables.entries(other)
    for gone in entries_of(other, "torus-3x3"):
        if gone.table == "loop_ports":
            continue
        found = entry_numbers.compare(made, [entry for entry in rest if entry != gone])
        assert [*found.lacking] == ["torus-3x3"], gone
        assert "star-8" not in found.lacking


def test_a_comparison_says_what_differs() -> None:
    both = planned("star-8", "line-4")
    swapped = plan.relabelled(
        both,
        {one: {1: 2, 2: 1}.get(one, one) for one in range(1, 10)},
        {one: one for one in range(512, 600)},
    )
    found = [*tables.entries(swapped), Entry("wire_table", (40,), "wire", (39,))]
    said = entry_numbers.compare(both, found).said()
    assert "it has star-8 under other numbers (slice 1 is 2 there)" in said
    assert "it has line-4 under other numbers (slice 2 is 1 there)" in said
    assert "it has 1 entry outside the experiments of the plan (wire_table 1)" in said
    lone = entry_numbers.compare(both, [*entries_of(both, "line-4")])
    assert lone.said() == f"it lacks star-8 ({len(entries_of(both, 'star-8'))} entries)"
    assert entry_numbers.compare(both, tables.entries(both)).equal


# ---- On a P4Runtime server -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("on", "known"),
    [
        pytest.param("topocloud-64", True, marks=pytest.mark.slow),
        ("topocloud-64", False),
        pytest.param("recirculating-64", True, marks=pytest.mark.slow),
        pytest.param("recirculating-64", False, marks=pytest.mark.slow),
    ],
)
def test_what_stays_is_never_touched(on: str, known: bool, serve: Serve) -> None:
    """Many random changes and their reversal, from the present plan or from the switch itself."""
    address, history = serve()
    kept, dice = "line-4", random.Random(11)
    now = planned("line-4", "ring-6", on=on)
    stays = entries_of(now, kept)
    with Client(address, pipeline()) as switch:
        switch.fill(tables.entries(now))
        told = len(history)
        for _, new in zip(range(CHANGES), wandering(now, kept, dice), strict=False):
            change = diff.change(now, new) if known else diff.change_from(switch.read(), new)
            switch.change(change.before, tables.entries(change.plan), 0)
            now = change.plan
            assert entries_of(now, kept) == stays
            assert {*switch.read()} == {*entry_numbers.chassis(tables.entries(now))}
    assert len(history) > told + CHANGES
    assert all(stays <= {*state} for state in history[told:])


def test_an_old_plan_that_the_switch_has_not_is_refused(serve: Serve, tmp_path: Path) -> None:
    """A change and its reversal renumber a slice, so that the earlier plan no longer matches."""
    address, history = serve()
    both, other = planned("star-8", "line-4"), planned("server-pair")
    files = {name: tmp_path / f"{name}.json" for name in ("both", "other", "there", "back")}
    plan_file.write(raised(both), files["both"])
    plan_file.write(other, files["other"])

    def weft(*words: object) -> Said:
        return Said(*run(["testbed", *map(str, words), "--p4runtime", address]))

    assert weft("up", files["both"]).returncode == 0
    assert weft("diff", files["both"], files["other"], "--plan", files["there"]).returncode == 0
    assert weft("diff", files["there"], files["both"], "--plan", files["back"]).returncode == 0
    stale = plan_file.read(files["both"])
    assert {*history[-1]} == {*tables.entries(plan_file.read(files["back"]))}
    assert {*history[-1]} != {*tables.entries(stale)}
    told = len(history)
    result = weft("diff", files["both"], files["other"])
    assert result.returncode == 2
    assert re.fullmatch(
        rf"weft: testbed diff: OLD differs from the switch at {address}: it has star-8 under"
        r" other numbers \(slice \d+ is \d+ there\).*; omit OLD to start from the state of the"
        " switch\n",
        result.stderr,
    )
    assert len(history) == told
    assert weft("status", files["both"]).returncode == 1
    same = weft("status", files["back"])
    assert (same.returncode, "is what the switch has" in same.stdout) == (0, True)
    assert "primary controller: none" in same.stdout
    assert weft("diff", files["other"]).returncode == 0  # from the switch itself
    assert entry_numbers.compare(other, history[-1]).lacking == {}


def test_a_switch_that_has_something_is_not_loaded_anew(serve: Serve) -> None:
    address, history = serve()
    star, ring = planned("star-8"), planned("ring-6")
    with Client(address, pipeline()) as switch:
        switch.fill(tables.entries(star))
        told = len(history)
        with pytest.raises(WeftError, match=r"has 25 entries already, which loading the program"):
            switch.fill(tables.entries(ring))
        assert len(history) == told
        switch.fill(tables.entries(ring), replace=True)
        assert {*switch.read()} == {*tables.entries(ring)}


@pytest.mark.parametrize("after", range(1, 9))
def test_a_change_that_fails_is_undone(after: int, serve: Serve) -> None:
    address, history = serve()
    old = planned("torus-3x3")
    change = diff.change(old, planned("ring-6", "star-8"))
    with Client(address, pipeline()) as switch:
        switch.fill(tables.entries(old))
        write, left = switch.write, [after]

        def failing(updates: Any) -> None:
            left[0] -= 1
            if left[0] == 0:
                raise WeftError("the switch is out of space")
            write(updates)

        switch.write = failing  # type: ignore[method-assign]
        with pytest.raises(WeftError, match=r"^the switch is out of space$"):
            switch.change(tables.entries(old), tables.entries(change.plan), 0)
        assert {*switch.read()} == {*tables.entries(old)} == {*history[-1]}


# ---- Options -------------------------------------------------------------------------------------

SWITCH = ("--p4runtime", "127.0.0.1:1")
MISPLACED = {
    ("up", "PLAN", "--netns", "--replace"): "--replace: applies to switches",
    ("up", "PLAN", "--netns", "--p4info", "PLAN"): "--p4info: applies to switches",
    ("up", "PLAN", *SWITCH, "--listen", "127.0.0.1:1"): "--listen: applies to namespace testbeds",
    ("up", "PLAN", *SWITCH, "--insecure"): "--insecure: applies to namespace testbeds",
    ("down", "--tls", "."): "--tls: applies to switches",
    ("diff", "PLAN", "PLAN", "--tls", "."): "--tls: applies to switches",
    ("diff", "PLAN", "PLAN", "--apply", *SWITCH): "--apply: applies to namespace testbeds",
    ("diff", "PLAN"): "OLD: is missing, and without --apply or --p4runtime",
    ("diff", "PLAN", "PLAN", "PLAN"): "diff: found 3 plans; give OLD and NEW, or NEW alone",
    ("diff", "PLAN", "--apply", "--name", "no-such"): "--name: no plan of 'no-such' is recorded",
    ("status", "PLAN"): "PLAN: applies to one testbed; name it with --name",
    ("status", *SWITCH, "--plan", "x.json"): "--plan: applies to namespace testbeds",
    ("status", "--p4info", "PLAN"): "--p4info: applies to switches",
}


@pytest.mark.parametrize("words", MISPLACED)
def test_options_of_the_other_place_are_refused(words: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    plan_file.write(planned("star-8"), path)
    line = [str(path) if word == "PLAN" else word for word in words]
    said = Said(*run(["testbed", *line], cwd=tmp_path))
    assert said.returncode == 2
    assert said.stderr.startswith(f"weft: {MISPLACED[words]}")
    assert said.stderr.count("\n") == 1


def test_what_is_not_up_is_said() -> None:
    said = Said(*run(["testbed", "status", "--name", "no-such"]))
    assert said.returncode == 1
    assert said.stdout.splitlines()[1].split()[-2:] == ["not", "up"]


# ---- In namespaces -------------------------------------------------------------------------------


@pytest.fixture
def up() -> Iterator[Callable[[Plan], Layout]]:
    def build(made: Plan) -> Layout:
        netns.up(made, NAME)
        return Layout(made)

    yield build
    netns.down(NAME)


Up = Callable[[Plan], Layout]


@in_namespaces
def test_a_stale_plan_deletes_nothing_that_runs(up: Up, tmp_path: Path) -> None:
    both = raised(planned("star-8", "line-4"))
    files = {name: tmp_path / f"{name}.json" for name in ("both", "other", "now")}
    plan_file.write(both, files["both"])
    plan_file.write(planned("server-pair"), files["other"])
    up(both)

    def weft(*words: object) -> Said:
        return Said(*run(["testbed", *map(str, words), "--name", NAME]))

    assert weft("diff", files["both"], files["other"], "--apply").returncode == 0
    assert weft("diff", files["both"], "--apply").returncode == 0
    stale = weft("diff", files["both"], files["other"], "--apply")
    assert stale.returncode == 2
    assert "OLD does not match the running testbed" in stale.stderr
    assert "under other numbers (slice" in stale.stderr
    told = weft("status", "--plan", files["now"])
    assert told.returncode == 0
    assert "star-8, line-4" in told.stdout
    assert "as recorded" in told.stdout
    assert probe.check(plan_file.read(files["now"]), NAME).problems == []
    assert weft("status", files["both"]).returncode == 1
    checked = weft("check", files["both"])
    assert checked.returncode == 2
    assert "testbed check: PLAN does not match the running testbed" in checked.stderr
    assert weft("check", files["now"]).returncode == 0
    with Client(running.address(NAME), pipeline()) as switch:
        switch.change(switch.read(), switch.read()[1:], 0)
    differs = weft("status")
    assert differs.returncode == 1
    assert "the switch differs: it lacks star-8 (1 entry)" in " ".join(differs.stdout.split())
    foreign = weft("diff", files["other"], "--apply")
    assert foreign.returncode == 2
    assert "does not match the recorded plan: it lacks star-8 (1 entry)" in foreign.stderr


class _Interrupted(BaseException):
    """Stands for a signal during a change."""


FAILURES: dict[str, tuple[Any, str]] = {
    "devices": (netns, "_make"),
    "cables": (netns, "_lay"),
    "hosts": (netns, "_set_hosts"),
    "record": (running, "record"),
}


@in_namespaces
@pytest.mark.parametrize("error", [WeftError("it does not work"), _Interrupted()])
@pytest.mark.parametrize("what", FAILURES)
def test_a_change_in_namespaces_that_fails_is_undone(
    what: str, error: BaseException, up: Up, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = planned("star-8", "ring-6", on="topocloud-64")
    up(old)
    kept = old.experiment("star-8")
    change = diff.change(old, plan.make(old.inventory, [wanted_topology.read("line-4")], [kept]))
    place, function = FAILURES[what]
    real = getattr(place, function)
    failed: list[bool] = []

    def once(*arguments: Any) -> Any:
        if not failed:
            failed.append(True)
            raise error
        return real(*arguments)

    monkeypatch.setattr(place, function, once)
    with pytest.raises(type(error)):
        netns.apply(old, change, NAME)
    assert probe.check(old, NAME).problems == []
    netns.apply(old, change, NAME)
    assert probe.check(change.plan, NAME).problems == []


@in_namespaces
@pytest.mark.parametrize("on", ["topocloud-64", "recirculating-64"])
def test_a_chassis_that_fails_halfway_has_what_it_had(on: str, up: Up) -> None:
    """A foreign interface is in the way: the kernel refuses halfway."""
    old = planned("star-8", "server-pair", on=on)
    up(old)
    change = diff.change(old, planned("star-8", "line-4", "server-pair", on=on))
    space = netns.namespace(NAME, old.inventory.chassis.name)
    new = bridges.of_chassis(tables.entries(change.plan)).bridges
    (*_, late) = sorted(new - bridges.of_chassis(tables.entries(old)).bridges)
    linux.ip(space, [f"link add name {late} type veth peer name foreign"])
    with pytest.raises(WeftError, match="File exists"):
        netns.apply(old, change, NAME)
    assert probe.check(old, NAME).problems == []
    linux.ip(space, [f"link del {late}"])
    netns.apply(old, change, NAME)
    assert probe.check(change.plan, NAME).problems == []


@in_namespaces
@pytest.mark.parametrize("fabrics", [("torus-3x3",), ("fat-tree-8", "server-pair"), ("ring-6",)])
def test_the_kernel_is_read_as_it_was_set(fabrics: Sequence[str], up: Up) -> None:
    made = planned(*fabrics, on="topocloud-64")
    up(made)
    entries = tables.entries(made)
    chassis = netns.namespace(NAME, made.inventory.chassis.name)
    assert bridges.observed(chassis) == bridges.of_chassis(entries)
    for device in made.inventory.switches:
        if (space := netns.namespace(NAME, device)) in netns.there(NAME):
            assert bridges.observed(space) == bridges.of_switch(device, entries)


@in_namespaces
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("ping") is None, reason="there is no ping")
def test_what_stays_loses_no_frame_over_many_changes(up: Up) -> None:
    """Other experiments come and go meanwhile, with their own and with other numbers."""
    dice, kept = random.Random(13), "line-4"
    now = planned("line-4", "ring-6")
    layout = up(now)
    one = now.experiment(kept)
    line = ["ip", "netns", "exec", netns.namespace(NAME, one.hosts["host-0"]), "ping", "-i", "0.01"]
    pinging = subprocess.Popen(
        [*line, layout.address(one, "host-3")], stdout=subprocess.PIPE, text=True
    )
    with pinging:
        for _, new in zip(range(CHANGES), wandering(now, kept, dice), strict=False):
            change = diff.change(now, new)
            netns.apply(now, change, NAME)
            now = change.plan
        pinging.send_signal(2)
        said = pinging.communicate()[0]
    assert probe.check(now, NAME).problems == []
    sent, received = map(int, re.findall(r"(\d+) packets transmitted, (\d+) received", said)[0])
    assert sent == received
    assert sent > 10 * CHANGES
    print(f"{sent} pings over {CHANGES} changes", file=sys.stderr)
