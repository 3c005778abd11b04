# SPDX-License-Identifier: LGPL-2.1-only
"""Traffic files: background messages between hosts, which no rank sends.

    [[traffic]]
    name = "neighbours"
    pattern = "uniform"
    load = "30%"
    bytes = "64KiB"

    [[traffic]]
    name = "training"
    pattern = "goal"
    file = "training.goal"
    hosts = "host-[16-31]"
    repeat = true

Paths are relative to the file's folder. docs/traffic.md describes the keys, from the tables below.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from weft.base import node_list
from weft.base.errors import WeftError
from weft.base.options import (
    BYTES,
    COUNT,
    PERCENT,
    TEXT,
    TIME,
    TRUTH,
    WEIGHT,
    WHOLE,
    Entry,
    Key,
    Options,
    one_of,
    parse,
)
from weft.base.user_files import UnreadableError, read_text
from weft.trace import goal

PATTERNS: Mapping[str, str] = {
    "uniform": "each message to another host at random",
    "permutation": "each host to one other host, by a cycle through all of them at random",
    "incast": "all hosts to the targets",
    "hot-spot": "a part of the messages to the targets, the others as in `uniform`",
    "goal": "a schedule in GOAL, the language of LogGOPSim and ATLAHS",
}
"""Patterns of traffic, with their meanings."""

IDLE, ALL = "idle", "all"

TRAFFIC: Mapping[str, Key] = {
    "name": Key("Name of the traffic in messages and in the record; by default its pattern", TEXT),
    "pattern": Key(
        "Who sends to whom. "
        + "; ".join(f'`"{name}"`: {what}' for name, what in PATTERNS.items())
        + "; required",
        one_of(tuple(PATTERNS)),
    ),
    "load": Key(
        'Mean rate of each host, as a part of its share of the bisection, such as `"30%"`;'
        " required, except for `goal`",
        PERCENT,
    ),
    "bytes": Key('Size of a message; `"64KiB"` by default', BYTES),
    "hosts": Key(
        f'Hosts that send: `"{IDLE}"` (by default), those without ranks; `"{ALL}"`; or a node'
        ' list in Slurm\'s notation, such as `"host-[0-3,7]"`. Of a GOAL schedule, the hosts of its'
        " ranks in order",
        TEXT,
    ),
    "part": Key(
        'Part of these hosts that sends, chosen at random, such as `"50%"`; `"100%"` by default',
        PERCENT,
    ),
    "targets": Key(
        "Node list of the targets of `incast` and `hot-spot`; by default one of the hosts at"
        " random",
        TEXT,
    ),
    "hot": Key(
        'Part of the messages of `hot-spot` that go to the targets; `"20%"` by default', PERCENT
    ),
    "window": Key(
        "Messages of a host in flight, at most; others wait at the host; 4 by default", COUNT
    ),
    "weight": Key(
        "Weight of this traffic on full links, if the fabric shares them by job"
        " ([how flows share links](jobs.md#how-flows-share-links)), from 0.001 to 1000; 1 by"
        " default",
        WEIGHT,
    ),
    "seed": Key("Seed of everything that is random; 1 by default", WHOLE),
    "start": Key('Simulated time at which the traffic begins, such as `"1ms"`; 0 by default', TIME),
    "end": Key("Simulated time at which it ends; by default with the last rank", TIME),
    "file": Key("GOAL file, in its text form; required for `goal`", TEXT),
    "repeat": Key("`true`: the schedule begins again when it has ended; `false` by default", TRUTH),
}
"""Keys of [[traffic]]."""

_FOR_GOAL = ("file", "repeat")
_NOT_FOR_GOAL = ("load", "bytes", "part", "targets", "hot", "window", "seed")
_MOST_TABLES = 1000
_MOST_WINDOW = 65536
_MOST_BYTES = 1e15


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """Table of a traffic file. Only the file itself and a schedule have been checked."""

    table: Entry
    name: str
    pattern: str
    load: float = 0.0
    """Fraction of a host's share of the bisection bandwidth."""
    bytes: int = 0
    hosts: str = IDLE
    part: float = 1.0
    targets: str = ""
    hot: float = 0.0
    window: int = 1
    seed: int = 1
    weight: float = 1.0
    start_s: float = 0.0
    end_s: float | None = None
    schedule: goal.Schedule | None = None
    repeat: bool = False


def read(path: Path) -> tuple[Traffic, ...]:
    """Read a traffic file. Raises `WeftError`."""
    try:
        top = parse(read_text(path), str(path))
    except UnreadableError as error:
        raise WeftError(f"{path}: {error}") from None
    top.allow("traffic")
    tables = list(top.parts("traffic"))
    if not tables:
        top.fail("traffic", "is missing; write a table [[traffic]] for each kind of traffic")
    if len(tables) > _MOST_TABLES:
        top.fail("traffic", f"found {len(tables):,} tables; allowed are at most {_MOST_TABLES:,}")
    all_of_them = tuple(_traffic(one, number, path.parent) for number, one in enumerate(tables, 1))
    seen: set[str] = set()
    for one in all_of_them:
        if one.name in seen:
            one.table.fail("name", f"found {one.name!r} twice; give each table its own name")
        seen.add(one.name)
    return all_of_them


def _traffic(found: Options, number: int, folder: Path) -> Traffic:
    name = found.values.get("name")
    which = f'name = "{name}"' if isinstance(name, str) and name else f"number {number}"
    table = Entry(found.source, which, found.values, "traffic")
    table.allow(*TRAFFIC)
    table.need("pattern")
    pattern = table.choice("pattern", tuple(PATTERNS), "")
    _refuse_others(table, pattern)
    start = table.seconds("start", 0.0)
    end = table.seconds("end") if "end" in table.values else None
    if end is not None and end <= start:
        table.fail("end", f"found {table.values['end']!r}, which is not after the start")
    name = table.text("name", pattern)
    weight = table.number("weight", 0.001, 1000, 1)
    if pattern == "goal":
        return Traffic(
            table=table,
            name=name,
            pattern=pattern,
            hosts=table.text("hosts", IDLE),
            weight=weight,
            start_s=start,
            end_s=end,
            schedule=_schedule(table, folder),
            repeat=table.truth("repeat", default=False),
        )
    return Traffic(
        table=table,
        name=name,
        pattern=pattern,
        load=table.percentage("load", None, "30%", whole=True),
        bytes=table.size("bytes", "64KiB"),
        hosts=table.text("hosts", IDLE),
        part=table.percentage("part", 1.0, "30%", whole=True),
        targets=table.text("targets", ""),
        hot=table.percentage("hot", 0.2, "30%", whole=True) if pattern == "hot-spot" else 0.0,
        window=table.integer("window", 1, _MOST_WINDOW, 4),
        seed=table.integer("seed", 0, 2**31 - 1, 1),
        weight=weight,
        start_s=start,
        end_s=end,
    )


def _refuse_others(table: Entry, pattern: str) -> None:
    wrong = list(_NOT_FOR_GOAL if pattern == "goal" else _FOR_GOAL)
    if pattern != "hot-spot":
        wrong.append("hot")
    if pattern not in ("incast", "hot-spot"):
        wrong.append("targets")
    for key in wrong:
        if key in table.values:
            table.fail(key, f'is not a key of the pattern "{pattern}"; leave it out')


def _schedule(table: Entry, folder: Path) -> goal.Schedule:
    path = folder / table.text("file")
    try:
        return goal.parse_goal(read_text(path))
    except UnreadableError as error:
        raise table.error("file", f"{path}: {error}") from None
    except goal.GoalError as error:
        raise table.error("file", f"{path}: {error}") from None


def names_in(table: Entry, key: str, text: str) -> list[str]:
    """Return the names in a node list."""
    try:
        names = node_list.expand(text)
    except ValueError as error:
        table.fail(key, f"found {text!r}; {error}")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        table.fail(key, f"found {twice} twice")
    return names
