# SPDX-License-Identifier: LGPL-2.1-only
"""Plans of requested topologies on inventories, checked by an independent table reader."""

import itertools
import json
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.testbed_files import fabric_file
from tests.support.testbed_reader import Reader, check_plan
from weft.base.errors import WeftError
from weft_testbed.hardware import inventory
from weft_testbed.hardware.inventory import Inventory
from weft_testbed.plan import file as plan_file
from weft_testbed.plan import plan, wanted_topology
from weft_testbed.plan.plan import Plan
from weft_testbed.plan.wanted_topology import Wanted
from weft_testbed.running import diff
from weft_testbed.tables import tables
from weft_testbed.tables.tables import Entry

TOPOLOGIES = ("star-8", "line-4", "ring-6", "fat-tree-8", "dragonfly-12", "torus-3x3")
CASES = 600


def routes_of(made: Plan) -> dict[str, Any]:
    return {
        one.name: {pair: route.switches for pair, route in one.wanted.routes.items()}
        for one in made.experiments
    }


def prove(made: Plan, directory: Path) -> int:
    """Check a plan's file and tables with the reader."""
    path = directory / "plan.json"
    plan_file.write(made, path)
    assert plan_file.read(path) == made
    return check_plan(json.loads(path.read_text()), tables.as_json(made), routes_of(made))


@pytest.mark.parametrize("fabric", TOPOLOGIES)
@pytest.mark.parametrize("name", ["topocloud-64", "recirculating-64"])
def test_the_six_topologies_fit_the_shipped_testbeds(
    name: str, fabric: str, tmp_path: Path
) -> None:
    made = plan.make(inventory.read(name), [wanted_topology.read(fabric)])
    assert made.proven
    assert prove(made, tmp_path) > 0
    assert plan.make(inventory.read(name), [wanted_topology.read(fabric)]) == made


def test_experiments_share_a_testbed(tmp_path: Path) -> None:
    both = [
        wanted_topology.read("torus-3x3"),
        wanted_topology.read("star-8"),
        wanted_topology.read("torus-3x3"),
    ]
    made = plan.make(inventory.read("recirculating-64"), both)
    assert [one.name for one in made.experiments] == ["torus-3x3", "star-8", "torus-3x3#2"]
    prove(made, tmp_path)


def test_two_servers_are_joined_by_a_virtual_wire(tmp_path: Path) -> None:
    there = inventory.read("topocloud-64")
    made = plan.make(there, [wanted_topology.read("server-pair"), wanted_topology.read("star-8")])
    pair = made.experiments[0]
    assert [way.kind for way in pair.cables.values()] == ["wire"]
    assert made.proven
    assert {pair.hosts[one] for one in ("client", "server")} == {"node-1", "node-2"}
    wires = [entry for entry in tables.entries(made) if entry.table == "wire_table"]
    assert [(entry.key, entry.data) for entry in wires] == [((1,), (2,)), ((2,), (1,))]
    assert prove(made, tmp_path) > 0


def test_hosts_have_a_cable_of_their_own_beside_a_switch(tmp_path: Path) -> None:
    path = fabric_file(
        tmp_path,
        'kind = "custom"\nhosts = ["a", "b", "c"]\nswitches = ["s"]\n'
        'cables = [{between = ["a", "s"]}, {between = ["b", "s"]},'
        ' {between = ["c", "s"]}, {between = ["a", "b"]}]',
        "beside",
    )
    text = (
        '[testbed]\nname = "t"\n[chassis]\nname = "c"\nports = 9\nspeed = "100Gbps"\n'
        '[[servers]]\nname = "d[1-3]"\nnics = ["e", "f"]\nspeed = "100Gbps"\n'
        '[[cables]]\nbetween = ["d[1-3]:e", "c:[1-3]"]\n'
        '[[cables]]\nbetween = ["d[1-3]:f", "c:[4-6]"]\n'
    )
    made = plan.make(inventory.parse(text, "t"), [wanted_topology.read(str(path))])
    assert [way.kind for way in made.experiments[0].cables.values()].count("wire") == 1
    assert made.experiments[0].wanted.routes["a", "b"].switches == ()
    prove(made, tmp_path)


FULL = """
[testbed]
name = "full"

[chassis]
name = "c"
ports = 64
speed = "100Gbps"
recirculation = ["[65-100]"]
recirculation_speed = "400Gbps"

[[servers]]
name = "n[1-24]"
nics = ["e"]
speed = "100Gbps"

[[switches]]
name = "x[1-8]"
ports = 5
speed = "100Gbps"

[[cables]]
between = ["n[1-24]:e", "c:[1-24]"]
""" + "".join(
    f'[[cables]]\nbetween = ["x{k}:[1-5]", "c:[{20 + 5 * k}-{24 + 5 * k}]"]\n' for k in range(1, 9)
)


@pytest.mark.parametrize(("dimensions", "recirculated"), [([4, 6], 16), ([3, 7], 11)])
def test_all_ports_of_a_chassis_are_planned_in_seconds(
    dimensions: list[int], recirculated: int, tmp_path: Path
) -> None:
    """Eight non-adjacent layer 2 switches take 32 of a 4 x 6 torus's 48 cables."""
    path = fabric_file(tmp_path, f'kind = "torus"\ndimensions = {dimensions}', "torus")
    before = time.process_time()
    made = plan.make(inventory.parse(FULL, "full"), [wanted_topology.read(str(path))])
    assert time.process_time() - before < 10
    assert (made.recirculated, made.proven) == (recirculated, True)
    prove(made, tmp_path)


# ---- Random cases --------------------------------------------------------------------------------


def random_inventory(dice: random.Random) -> str:
    """Return a small testbed with random cabling; servers of up to three speeds."""
    speed = dice.choice(["100Gbps", "25Gbps"])
    lines = ['[testbed]\nname = "random"']
    servers = dice.randint(2, 9)
    externals = dice.randint(0, 3)
    ends: list[tuple[str, str]] = []
    for k in range(servers):
        count = dice.choice([1, 1, 2])
        own = dice.choice([speed, speed, "100Gbps"])
        nics = [f"eth{n}" for n in range(count)]
        lines.append(f'[[servers]]\nname = "s{k}"\nnics = {json.dumps(nics)}\nspeed = "{own}"')
        ends += [(f"s{k}:{nic}", own) for nic in nics]
    for k in range(externals):
        own = dice.choice([speed, "100Gbps"])
        ports = dice.randint(2, 8)
        lines.append(f'[[switches]]\nname = "x{k}"\nports = {ports}\nspeed = "{own}"')
        ends += [(f"x{k}:{n}", own) for n in range(1, ports + 1)]
    cables, chassis_speeds = [], []
    dice.shuffle(ends)
    straight = externals > 0 and dice.random() < 0.5
    while ends:
        end, own = ends.pop()
        fit = [one for one in ends if one[1] == own and one[0].split(":")[0] != end.split(":")[0]]
        fit = [one for one in fit if "x" in one[0] + end]
        if straight and fit and dice.random() < 0.3:
            ends.remove(fit[0])
            cables.append((end, fit[0][0]))
        elif dice.random() < 0.95:
            chassis_speeds.append(own)
            cables.append((end, f"c:{len(chassis_speeds)}"))
    loops = dice.randint(0, 14)
    front = len(chassis_speeds)
    lines.append(
        f'[chassis]\nname = "c"\nports = {front + loops + 1}\nspeed = "100Gbps"\n'
        f"max_sharing = {dice.choice([1, 1, 2, 4])}\nslices = {dice.choice([2, 4, 64, 64])}"
    )
    if loops:
        lines.append(f'loopback = ["[{front + 1}-{front + loops}]"]')
    slow = [str(k) for k, own in enumerate(chassis_speeds, 1) if own == "25Gbps"]
    if slow:
        lines.append(f'[[ports]]\nnumbers = {json.dumps(slow)}\nspeed = "25Gbps"')
    lines += [f'[[cables]]\nbetween = ["{one}", "{other}"]' for one, other in cables]
    return "\n".join(lines) + "\n"


def random_fabric(dice: random.Random) -> str:
    """Return a connected topology of a few switches and hosts, sometimes with two speeds."""
    switches = [f"w{k}" for k in range(dice.randint(1, 5))]
    hosts = [f"h{k}" for k in range(dice.randint(2, 8))]
    pairs = [(one, dice.choice(switches[:k])) for k, one in enumerate(switches) if k]
    pairs += [
        (one, other) for one, other in itertools.combinations(switches, 2) if dice.random() < 0.25
    ]
    for host in hosts:
        some = dice.sample(switches, min(len(switches), dice.choice([1, 1, 1, 1, 2])))
        pairs += [(host, one) for one in some]
    cables = "".join(
        f'[[topology.cables]]\nbetween = ["{one}", "{other}"]\n' for one, other in pairs
    )
    slower = dice.choice(
        ["", "", '[[links]]\nmatch = "w*"\nbandwidth = "25Gbps"\nlatency = "1us"\n']
    )
    if not any(one[0] == "w" for one, _ in pairs):
        slower = ""
    speed = dice.choice(["25Gbps", "25Gbps", "100Gbps", "10Gbps"])
    return f"""[fabric]
name = "random"
[topology]
kind = "custom"
hosts = {json.dumps(hosts)}
switches = {json.dumps(switches)}
{cables}
[host]
preset = "xeon-8360"
[nic]
preset = "connectx-6-dx"
[link]
bandwidth = "{speed}"
latency = "1us"
{slower}
[switch]
preset = "l2"
"""


def placements(one: Wanted, there: Inventory) -> Iterator[dict[str, str]]:
    """Yield every placement of any subset of the requested switches on layer 2 switches."""
    names = [*there.switches]
    for chosen in itertools.product([None, *names], repeat=len(one.switches)):
        used = [name for name in chosen if name]
        if len(used) == len(set(used)):
            yield {w: name for w, name in zip(one.switches, chosen, strict=True) if name}


def fits(one: Wanted, there: Inventory, placed: dict[str, str]) -> int | None:
    """Return a placement's recirculated cables without straight cables; None if infeasible."""
    if len(one.switches) - len(placed) > there.chassis.slices:
        return None
    for switch, name in placed.items():
        device = there.switches[name]
        if len(one.at[switch]) > len(there.cabled(device)):
            return None
        if any(cable.speed > device.speed for cable in one.at[switch]):
            return None
    looped = [
        cable.speed
        for cable in one.cables.values()
        if {cable.lower, cable.upper} <= {*one.switches} - {*placed}
    ]
    return len(looped) if packs(sorted(looped * 2, reverse=True), there) else None


def packs(directions: Sequence[int], there: Inventory) -> bool:
    """Return true if the directions fit on the looping ports; speeds divide each other's sums."""
    room = [port.speed * there.chassis.max_sharing for port in there.chassis.loops]
    for speed in directions:
        if not room or max(room) < speed:
            return False
        room[room.index(max(room))] -= speed
    return True


def enough_servers(one: Wanted, there: Inventory) -> bool:
    """Return true if each host gets a server: the most demanding takes the least that fits."""
    left = sorted((len(there.cabled(s)), s.speed) for s in there.servers.values())
    for host in sorted(one.hosts, key=lambda h: (-len(one.at[h]), -one.at[h][0].speed)):
        ports, speed = len(one.at[host]), max(cable.speed for cable in one.at[host])
        fit = [server for server in left if server[0] >= ports and server[1] >= speed]
        if not fit:
            return False
        left.remove(fit[0])
    return True


def is_straight(there: Inventory) -> bool:
    """Return true if some cable does not end at the chassis."""
    name = there.chassis.name
    return any(name not in (a.device, b.device) for a, b in there.peers.items())


@pytest.mark.slow
def test_random_cases(tmp_path: Path) -> None:
    """The reader confirms plans; enumeration or the solver's proof confirms infeasibility."""
    outcomes: Counter[str] = Counter()
    for seed in range(CASES):
        dice = random.Random(seed)
        text = random_inventory(dice)
        there = inventory.parse(text, "random")
        path = tmp_path / "random.toml"
        path.write_text(random_fabric(dice))
        one = wanted_topology.read(str(path))
        counts = [fits(one, there, placed) for placed in placements(one, there)]
        possible = [count for count in counts if count is not None]
        try:
            made = plan.make(there, [one])
        except WeftError as error:
            message = str(error)
            assert message.startswith("no plan: "), message
            assert " short" in message or "without a server" in message, message
            if is_straight(there):
                assert "not enough servers: " in message or "proven by the solver" in message
                outcomes["proven"] += 1
            else:
                assert not (possible and enough_servers(one, there)), (seed, message)
                outcomes["enumerated"] += 1
            continue
        prove(made, tmp_path)
        assert made.proven
        if not is_straight(there):
            assert made.recirculated == min(possible), seed
        outcomes["planned"] += 1
    assert sum(outcomes.values()) == CASES
    assert min(outcomes.values()) > 40, outcomes


# ---- Changes -------------------------------------------------------------------------------------


def who_reaches_whom(reader: Reader, addresses: dict[Any, str]) -> set[tuple[str, str]]:
    reached = set()
    for source in addresses:
        for address in (*addresses.values(), "ff:ff:ff:ff:ff:ff"):
            reached |= {(source[0], one.at[0]) for one in reader.send(source, address)}
    return reached


def together(made: Plan) -> set[tuple[str, str]]:
    servers = [one.hosts.values() for one in made.experiments]
    return {(a, b) for group in servers for a in group for b in group}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["star-8"], ["ring-6"]),
        (["torus-3x3"], ["star-8", "torus-3x3"]),
        (["star-8", "line-4"], ["line-4", "star-8"]),
        (["fat-tree-8"], ["torus-3x3"]),
    ],
)
def test_no_frame_crosses_during_a_change(before: list[str], after: list[str]) -> None:
    from tests.support.testbed_reader import nic_addresses

    there = inventory.read("topocloud-64")
    old, new = (
        plan.make(there, [wanted_topology.read(f) for f in names]) for names in (before, after)
    )
    found = diff.change(old, new)
    reader = Reader(there.text, [entry.as_json() for entry in tables.entries(old)])
    addresses = nic_addresses(there.text)
    was, will = together(old), together(new)
    assert who_reaches_whom(reader, addresses) <= was
    adding = False
    for step in found.steps():
        if step["step"] == "wait":
            adding = True
            assert who_reaches_whom(reader, addresses) <= was & will
        elif step["step"] == "remove":
            assert not adding
            reader.remove(step)
        else:
            reader.add(step)
        assert who_reaches_whom(reader, addresses) <= (will if adding else was)
    now = Reader(there.text, [entry.as_json() for entry in tables.entries(found.plan)])
    assert {k: v for k, v in reader.tables.items() if v} == dict(now.tables)


# ---- Running experiments stay --------------------------------------------------------------------


def of(made: Plan, name: str) -> list[Entry]:
    """Return all entries of one experiment."""
    return tables.entries(replace(made, experiments=(made.experiment(name),)))


def test_what_is_kept_stays_on_everything_that_it_has(tmp_path: Path) -> None:
    there = inventory.read("topocloud-64")
    torus, star, ring = (wanted_topology.read(one) for one in ("torus-3x3", "star-8", "ring-6"))
    both = plan.make(there, [torus, star])
    alone = plan.make(there, [], [both.experiment("star-8")])
    assert alone.experiments == (both.experiments[1],)
    # A new plan would move it, which keeping prevents.
    assert plan.make(there, [star]).experiments[0].hosts != both.experiments[1].hosts
    more = plan.make(there, [ring], alone.experiments)
    prove(more, tmp_path)
    assert more.experiments[0] == both.experiments[1]
    for before, after in ((both, alone), (alone, more)):
        found = diff.change(before, after)
        assert of(found.plan, "star-8") == of(both, "star-8")
        assert not {*found.removed, *found.added} & {*of(both, "star-8")}
        assert found.kept == len(of(both, "star-8"))
        assert found.least


def test_looping_ports_of_one_experiment_do_not_depend_on_others(tmp_path: Path) -> None:
    there = inventory.read("recirculating-64")
    torus, star, ring = (wanted_topology.read(one) for one in ("torus-3x3", "star-8", "ring-6"))
    first = plan.make(there, [torus])
    for more in ([star], [ring], [torus, ring]):
        both = plan.make(there, [torus, *more])
        ways = both.experiments[0].cables
        assert {name: way.loops for name, way in ways.items()} == {
            name: way.loops for name, way in first.experiments[0].cables.items()
        }
        found = diff.change(first, both)
        assert not found.removed
        assert found.kept == len(tables.entries(first))
        kept = plan.make(there, more, first.experiments)
        prove(kept, tmp_path)
        assert max(map(kept.sharing, kept.shares)) <= there.chassis.max_sharing


def test_what_does_not_fit_beside_what_is_kept_says_so() -> None:
    there = inventory.read("topocloud-64")
    torus, star = wanted_topology.read("torus-3x3"), wanted_topology.read("star-8")
    running = plan.make(there, [torus, star])
    with pytest.raises(WeftError) as caught:
        plan.make(there, [star], running.experiments)
    assert str(caught.value) == (
        "no plan: not enough servers: 8 hosts wanted with 1 cable of 100 Gb/s or more, 3 servers"
        " with such ports cabled in topocloud-64: 5 short; take a smaller topology, or cable more"
        " servers; counted beside what is kept (torus-3x3, star-8): a new plan of all,"
        " without keep, does not fit either"
    )


def test_what_fits_only_by_moving_says_that(tmp_path: Path) -> None:
    """A star on a server with two ports blocks a host with two cables."""
    path = fabric_file(
        tmp_path,
        'kind = "custom"\nhosts = ["a", "b"]\nswitches = ["x", "y"]\n'
        'cables = [{between = ["a", "x"]}, {between = ["a", "y"]},'
        ' {between = ["b", "x"]}, {between = ["b", "y"]}]',
        "two",
    )
    text = (
        '[testbed]\nname = "t"\n[chassis]\nname = "c"\nports = 9\nspeed = "100Gbps"\n'
        '[[servers]]\nname = "d[1-2]"\nnics = ["e", "f"]\nspeed = "100Gbps"\n'
        '[[servers]]\nname = "s[1-2]"\nnics = ["e"]\nspeed = "100Gbps"\n'
        '[[cables]]\nbetween = ["d[1-2]:e", "c:[1-2]"]\n'
        '[[cables]]\nbetween = ["d[1-2]:f", "c:[3-4]"]\n'
        '[[cables]]\nbetween = ["s[1-2]:e", "c:[5-6]"]\n'
    )
    there = inventory.parse(text, "t")
    star = fabric_file(tmp_path, 'kind = "star"\nhosts = 2', "s")
    stars = plan.make(there, [wanted_topology.read(str(star))] * 2)
    kept = [one for one in stars.experiments if "d1" in one.hosts.values()]
    with pytest.raises(WeftError, match=r"without keep, fits, but moves running experiments$"):
        plan.make(there, [wanted_topology.read(str(path))], kept)
    plan.make(there, [wanted_topology.read(str(star)), wanted_topology.read(str(path))])


LARGE = """
[testbed]
name = "large"

[chassis]
name = "c"
ports = 100
speed = "100Gbps"
max_sharing = 8
loopback = ["[65-100]"]

[[servers]]
name = "n[1-64]"
nics = ["e"]
speed = "100Gbps"

[[cables]]
between = ["n[1-64]:e", "c:[1-64]"]
"""


def test_a_plan_of_five_thousand_entries_is_compared_within_a_second(tmp_path: Path) -> None:
    path = fabric_file(tmp_path, 'kind = "torus"\ndimensions = [8, 8]', "t")
    made = plan.make(inventory.parse(LARGE, "large"), [wanted_topology.read(str(path))])
    (one,) = made.experiments
    dice = random.Random(1)
    slices = [*range(1, 65)]
    ends = sorted(end for _, _, way in made.ways for end in way.virtual)
    shuffled = plan.relabelled(
        made,
        dict(zip(slices, dice.sample(slices, len(slices)), strict=True)),
        dict(zip(ends, dice.sample(ends, len(ends)), strict=True)),
    )
    # With another text the experiment is not recognised, and is found by its entries only.
    text = replace(one.wanted, text=f"{one.wanted.text}\n")
    unknown = replace(
        shuffled, experiments=(replace(shuffled.experiments[0], wanted=text, name="u"),)
    )
    assert len(tables.entries(made)) == 5218
    for other in (made, shuffled, unknown):
        before = time.process_time()
        found = diff.change(made, other)
        assert time.process_time() - before < 2  # 0.3 to 0.9 s on an idle machine
        assert (found.removed, found.added, found.kept) == ([], [], 5218)
        assert found.least
