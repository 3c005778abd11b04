# SPDX-License-Identifier: LGPL-2.1-only
"""Campaign files: programs, and the values in which their runs differ.

    [campaign]
    name = "slots"

    [programs.latency]
    source = "latency.c"
    arguments = ["{bytes:B}", "10"]

    [[runs]]
    program = "latency"
    fabric = ["tofino-16", "tofino-64x64"]
    ranks = [4, 16]
    offload = ["stream", "off"]
    bytes = ["1KiB", "1MiB"]
    switch.slots = [64, 256]
    leave_out = [{ offload = "off", "switch.slots" = 64 }]

A key of `[[runs]]` is set to one value, a list of values, or a range (`weft.campaign.file.ranges`):
`{ from = "4B", to = "1MiB", times = 4 }`. The key is one of `weft.campaign.file.keys`, a key of
fabric files (TABLE.KEY), or a placeholder in the arguments of the table's programs: `{KEY}`, or
`{KEY:B}` for a size in bytes.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.base.errors import WeftError, suggestion
from weft.base.options import Options, parse
from weft.base.units import parse_size
from weft.base.user_files import UnreadableError, read_text
from weft.campaign.file.axes import Grid, Point, Value
from weft.campaign.file.columns import COLUMNS
from weft.campaign.file.keys import (
    AXES,
    CAMPAIGN,
    COLLECTIVES,
    FOR_TRAINING,
    OF_TRAINING,
    ONLY_OF_MODELS,
    ONLY_OF_TRACES,
    RULES,
    RUNS,
    TRAINING_KINDS,
    in_brief,
    parts,
)
from weft.campaign.file.programs import Program, read_programs, truth
from weft.campaign.file.ranges import is_range, spread
from weft.runs import value_types
from weft.runs.faults.changes import FAULT_KEYS
from weft.training.file import KEYS as MODEL_KEYS
from weft.training.variants import VARIANTS

REPEATS = ("repetition", "seed", "noise.seed", "noise_seed", "fault.seed")
"""Keys whose values only repeat the same experiment."""
_MOST_RUNS = 1_000_000
MOST_NOISE = 2
"""Largest `noise` of training iterations."""
_DEFAULT_MOST = 100_000


@dataclass(frozen=True)
class Campaign:
    """A parsed campaign file."""

    file: Path
    name: str
    description: str
    programs: Mapping[str, Program]
    grids: Sequence[Grid]
    timeout_s: float | None
    """Wall-time limit of each run."""
    memory_bytes: int | None
    """Memory limit of each run."""
    most_runs: int
    baseline: tuple[str, Value] | None = None
    """Key and value that identify a report's baseline runs."""
    best: bool = True
    """Also execute the host runs with their fastest algorithms."""
    intervals: bool = True
    """Also execute runs at the ends of the intervals of calibrated fabrics."""

    @property
    def folder(self) -> Path:
        """Base folder of relative paths."""
        return self.file.parent

    def points(self) -> Iterator[Point]:
        """Yield all combinations of all grids."""
        for grid in self.grids:
            yield from grid.points()


def read(file: Path) -> Campaign:
    """Read a campaign file without checking paths in it. Raises `WeftError`."""
    try:
        return of_tables(parse(read_text(file), str(file)), file)
    except UnreadableError as error:
        raise WeftError(f"{file}: {error}") from None


def of_tables(top: Options, file: Path) -> Campaign:
    """Return the campaign described by parsed tables; `file` is its nominal location."""
    top.allow("campaign", "programs", "runs", "report")
    about = top.part("campaign").allow(*CAMPAIGN)
    programs = {one.name: one for one in read_programs(top)}
    most = about.integer("most_runs", 1, _MOST_RUNS, _DEFAULT_MOST)
    grids = [_grid(table, programs) for table in top.parts("runs")]
    if not grids:
        top.fail(
            "runs", "is missing; write at least one table [[runs]] with the values of each run"
        )
    _check_number(top, grids, most)
    timeout = about.duration("timeout") / 1e9 if "timeout" in about.values else None
    return Campaign(
        file=file,
        name=about.text("name"),
        description=about.text("description", ""),
        programs=programs,
        grids=grids,
        timeout_s=timeout,
        memory_bytes=_memory(about),
        most_runs=most,
        baseline=_baseline(top, grids),
        best=truth(about, "best"),
        intervals=truth(about, "intervals"),
    )


def _baseline(top: Options, grids: Sequence[Grid]) -> tuple[str, Value] | None:
    """Return the key and value chosen by [report]; the key must have several values in the runs."""
    if "report" not in top.values:
        return None
    table = top.part("report").allow("baseline")
    wanted = table.need("baseline")
    flat = dict(_flattened(table, wanted)) if isinstance(wanted, dict) else {}
    if len(flat) != 1:
        table.fail("baseline", f'found {wanted!r}; write one key, such as {{ fabric = "plain" }}')
    key, value = next(iter(flat.items()))
    values = list(dict.fromkeys(one for grid in grids for one in grid.values.get(key, ())))
    if not values:
        known = dict.fromkeys(one for grid in grids for one in grid.values)
        table.fail("baseline", f"no such key in [[runs]]: {key!r}; {suggestion(key, known)}")
    if value not in values:
        table.fail(
            "baseline",
            f"found {key} = {value!r}; {suggestion(str(value), [str(one) for one in values])}",
        )
    if len(values) == 1 or key in REPEATS:
        table.fail(
            "baseline",
            f"found {key}, which gives nothing to compare; write a key of [[runs]] with several"
            " values other than repetition",
        )
    return key, value


def _memory(about: Options) -> int | None:
    if "memory" not in about.values:
        return None
    try:
        return parse_size(about.text("memory"), "memory")
    except WeftError as error:
        about.fail("memory", error.message.removeprefix("memory: "))


def _check_number(top: Options, grids: Sequence[Grid], most: int) -> None:
    number = sum(grid.size for grid in grids)
    if number > most:
        top.fail(
            "runs",
            f"makes {number:,} combinations; allowed are at most {most:,}: use fewer values, or"
            " raise [campaign] most_runs",
        )
    for k, grid in enumerate(grids):
        if next(grid.points(), None) is None:
            top.fail("runs", f"table {k + 1} has no runs: leave_out removes all of them")


# ---- Grids


def _grid(table: Options, programs: Mapping[str, Program]) -> Grid:
    rules = {key: table.values[key] for key in RULES if key in table.values}
    flat = dict(_flattened(table, {k: v for k, v in table.values.items() if k not in RULES}))
    if "repetitions" in rules:
        if "repetition" in flat:
            table.fail("repetitions", "found beside repetition; write one of them")
        flat["repetition"] = list(range(1, table.integer("repetitions", 1, _MOST_RUNS) + 1))
    values = {key: _values(table, key, value) for key, value in flat.items()}
    _check_needed(table, values, programs)
    _check_values(table, values, programs)
    _check_keys(table, values, programs)
    return Grid(
        values, _zipped(table, rules.get("zip", []), values), _left_out(table, rules, values)
    )


def _check_needed(
    table: Options, values: Mapping[str, Sequence[Value]], programs: Mapping[str, Program]
) -> None:
    """Check that the keys without a default are present.

    Jobs files and training files define their own numbers of ranks.
    """
    named = [programs[str(name)] for name in values.get("program", ()) if name in programs]
    of_jobs = [one for one in named if one.jobs is not None]
    models = [one for one in named if one.model]
    traces = [one for one in named if one.trace is not None]
    kinds = (
        *((of_jobs, "is a jobs file"), (models, "is a model")),
        *((traces, "is a trace of training"),),
    )
    for some, what in kinds:
        if some and len(some) < len(named):
            table.fail(
                "program",
                f"found {some[0].name}, which {what}, beside programs; write a table [[runs]] of"
                " its own",
            )
    for key in ("ranks", "ppn"):
        if of_jobs and key in values:
            table.fail(key, f"found with {of_jobs[0].name}; the jobs file has it for each job")
    if trained := models or traces:
        _check_training_keys(table, values, trained[0])
    elif named:
        _check_program_keys(table, values, named)
    for key in ("program", "fabric", *(() if of_jobs or trained else ("ranks",))):
        if key not in values:
            table.fail(key, f"is missing; write {in_brief(key)}, or a list of them")


def _check_training_keys(
    table: Options, values: Mapping[str, Sequence[Value]], model: Program
) -> None:
    """Refuse keys that do not apply to training iterations, and unknown training file keys."""
    for key in values:
        if key in ("ranks", "ppn"):
            ranks = (
                "the training file's [parallel] gives it: write parallel.tensor, parallel.data …"
                if model.model
                else "the trace gives it; leave it out"
            )
            table.fail(key, f"found with {model.name}; {ranks}")
        if "." not in key and key not in FOR_TRAINING:
            table.fail(
                key,
                f"found with {model.name}, an iteration of training;"
                f" {suggestion(key, FOR_TRAINING)}",
            )
        place, _, own = key.partition(".")
        if key in ONLY_OF_TRACES and model.model:
            table.fail(key, f"found with {model.name}, a model; it applies to traces only")
        if model.trace is not None and (key in ONLY_OF_MODELS or (own and place in MODEL_KEYS)):
            table.fail(key, f"found with {model.name}, a trace; it applies to models only")
        if own and place in MODEL_KEYS and own not in MODEL_KEYS[place]:
            table.fail(
                key, f"training files have no such key; {suggestion(own, list(MODEL_KEYS[place]))}"
            )
    for value in values.get(COLLECTIVES, ()):
        if value not in VARIANTS:
            table.fail(COLLECTIVES, f"found {value!r}; allowed are {', '.join(VARIANTS)}")
    for key, kind in TRAINING_KINDS.items():
        for value in values.get(key, ()):
            if problem := _problem(kind, value):
                table.fail(key, f"found {value!r}; {problem}")
    for value in values.get("noise", ()):
        if isinstance(value, bool | str) or not 0 <= value <= MOST_NOISE:
            table.fail("noise", f"found {value!r}; allowed is a number from 0 to {MOST_NOISE}")
    for value in values.get("slowdown", ()):
        if not isinstance(value, str):
            table.fail("slowdown", f'found {value!r}; write RANK=FACTOR, such as "17=1.2"')
    for value in values.get("fallback", ()):
        if not str(value).startswith("nccl-"):
            table.fail(
                "fallback",
                f"found {value!r}; collectives of training are NCCL's: name a version, such as"
                " nccl-2.29",
            )


def _check_program_keys(
    table: Options, values: Mapping[str, Sequence[Value]], named: Sequence[Program]
) -> None:
    """Refuse keys that apply only to training iterations, unless they name a program's argument."""
    wanted = {key for program in named for key in program.placeholders}
    for key in values:
        place, dot, _ = key.partition(".")
        if (key in OF_TRAINING and key not in wanted) or (dot and place in MODEL_KEYS):
            table.fail(
                key,
                f"found with {named[0].name}, a program; it applies to iterations of training only:"
                " write [programs.NAME] with model",
            )


def _flattened(
    table: Options, values: Mapping[str, Any], outer: str = ""
) -> Iterator[tuple[str, Any]]:
    """Yield dotted keys such as `switch.slots`, which TOML parses as nested tables."""
    for key, value in values.items():
        if isinstance(value, dict) and not is_range(value):
            if not value:
                table.fail(outer + key, "is an empty table; write TABLE.KEY = [VALUES]")
            yield from _flattened(table, value, f"{outer}{key}.")
        else:
            yield outer + key, value


def _values(table: Options, key: str, value: Any) -> list[Value]:
    listed = value if isinstance(value, list) else [value]
    found: list[Value] = []
    for one in listed:
        try:
            found += spread(one) if isinstance(one, dict) else [one]
        except ValueError as error:
            table.fail(key, str(error))
    if not found:
        table.fail(key, "found an empty list; write at least one value, or leave out the key")
    for one in found:
        if not isinstance(one, str | int | float):
            table.fail(key, f"found {one!r}; a value is a text, a number, true or false")
        if isinstance(one, str) and not one.isprintable():
            table.fail(key, f"found {one!r}; write texts of one line, without control characters")
    if len({(type(one), one) for one in found}) < len(found):
        table.fail(key, f"found {found!r}, which has a value twice; write each value once")
    return found


def _check_keys(
    table: Options, values: Mapping[str, Sequence[Value]], programs: Mapping[str, Program]
) -> None:
    named = [programs[str(name)] for name in values["program"] if name in programs]
    wanted = dict.fromkeys(key for program in named for key in program.placeholders)
    for key in values:
        if key in COLUMNS:
            table.fail(key, "is the name of a column of results; rename the placeholder")
        _check_key_of_faults(table, key)
        if key not in RUNS and key not in wanted and "." not in key:
            known = (*RUNS, *wanted, *RULES)
            table.fail(key, f"no such key, and no argument has {{{key}}}; {suggestion(key, known)}")
    for program in named:
        for key in program.placeholders:
            if key not in values:
                table.fail(key, f"is missing; the arguments of {program.name} have {{{key}}}")


def _check_key_of_faults(table: Options, key: str) -> None:
    """Check that fault files define this key; other files can only be checked with all changes."""
    name, _, own = key.partition(".")
    known = FAULT_KEYS.get(name)
    if known is not None and own not in known:
        table.fail(key, f"fault files have no such key; {suggestion(own, known)}")


def _check_values(
    table: Options, values: Mapping[str, Sequence[Value]], programs: Mapping[str, Program]
) -> None:
    for name in values["program"]:
        if name not in programs:
            table.fail("program", f"found {name!r}; {suggestion(str(name), list(programs))}")
    for key in ("seed", "repetition"):
        for value in values.get(key, ()):
            if problem := _problem(_NUMBER, value):
                table.fail(key, f"found {value!r}; {problem}")
    for key, one in AXES.items():
        for value in values.get(key, ()):
            if problem := _problem(one.option.kind, value):
                said = f": {in_brief(key)}" if problem == _TEXT else ""
                table.fail(key, f"found {value!r}; {problem}{said}")


_NUMBER = value_types.Count(0, 2**31 - 1)
_TEXT = "write a text"
_SETTING = re.compile(r"[^\s:]+:\S+")


def _problem(kind: value_types.Kind, value: Value) -> str:
    """Return the allowed values if a value is not of this kind, else an empty text."""
    match kind:
        case value_types.Count(least, most):
            if type(value) is not int or not least <= value <= (most or value):
                return f"allowed is a whole number from {least} to {most}"
        case value_types.Switch():
            if not isinstance(value, bool):
                return "allowed are true, false"
        case value_types.Choice(words):
            if value not in words:
                return f"allowed are {', '.join(words)}"
        case value_types.Settings():
            if not isinstance(value, str) or not all(map(_SETTING.fullmatch, parts(value))):
                return "write KEY:VALUE, several separated by commas"
        case _:
            if not isinstance(value, str) or not value:
                return _TEXT
    return ""


def _zipped(table: Options, zips: Any, values: Mapping[str, Sequence[Value]]) -> list[list[str]]:
    if not isinstance(zips, list) or not all(isinstance(keys, list) for keys in zips):
        table.fail("zip", f'found {zips!r}; write lists of keys, such as [["ranks", "ppn"]]')
    seen: set[str] = set()
    for keys in zips:
        for key in keys:
            if key not in values:
                table.fail("zip", f"found {key!r}; {suggestion(str(key), list(values))}")
            if key in seen:
                table.fail("zip", f"found {key!r} twice; write each key once")
            seen.add(key)
        lengths = {key: len(values[key]) for key in keys}
        if len(set(lengths.values())) != 1:
            said = ", ".join(f"{key} has {length}" for key, length in lengths.items())
            table.fail("zip", f"zipped keys must have equally many values; {said}")
    return zips


def _left_out(
    table: Options, rules: Mapping[str, Any], values: Mapping[str, Sequence[Value]]
) -> list[dict[str, list[Value]]]:
    conditions = rules.get("leave_out", [])
    if not isinstance(conditions, list) or not all(isinstance(one, dict) for one in conditions):
        table.fail("leave_out", 'write tables, such as [{ offload = "off", "switch.slots" = 64 }]')
    found = []
    for condition in conditions:
        flat = dict(_flattened(table, condition))
        if not flat:
            table.fail("leave_out", "found an empty table, which would leave out all runs")
        for key in flat:
            if key not in values:
                table.fail("leave_out", f"found {key!r}; {suggestion(key, list(values))}")
        found.append({key: _values(table, f"leave_out {key}", one) for key, one in flat.items()})
    return found
