# SPDX-License-Identifier: LGPL-2.1-only
"""Cost of very many ranks: `make bench-scale`, a section of docs/performance.md.

The study covers thousands of ranks on few hosts (many_ranks.py), then up to two million ranks. Each
of the large runs uses the command that a user would type: `weft run` with the fabric, the number of
ranks, the ranks per host, and the program; the only other option is `--memory`. weft refuses runs
that do not fit into this machine's memory before they start, or ends them when they exhaust it; the
study reports this, enters it in the table, and continues with the next run. All runs alternate,
round by round; completed runs are stored and not repeated.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from textwrap import fill

from studies import many_ranks
from studies.resume import kept_rows
from studies.rounds import Spread, spread
from studies.study import DOCS, Study, Table, markdown, read_table, write_table
from studies.usage import Usage, watched
from weft.base import paths
from weft.base.machine import Machine
from weft.base.process import work_directory
from weft.runs.record import read_record
from weft.runs.toolchain import compile_c

TABLE = DOCS / "scale.csv"
FABRIC = "fat-tree-65536"
HOSTS = 65_536


@dataclass(frozen=True)
class Case:
    """Program of examples/ with its arguments, numbers of ranks, and repetitions."""

    program: str
    arguments: str
    ranks: int
    rounds: int = 5

    @property
    def ppn(self) -> int:
        """Ranks per host: 16, or more if the fabric has too few hosts."""
        return max(16, self.ranks // HOSTS)


_SIZES = (16_384, 65_536, 262_144, 1_048_576)
CASES = (
    *(Case("allreduce_latency", "1024 10", ranks) for ranks in _SIZES),
    Case("allreduce_latency", "8 10", 2_097_152, rounds=2),
    *(Case("halo_exchange", "1 64 1", ranks) for ranks in _SIZES),
    Case("halo_exchange", "1 64 2", 1_048_576),
    Case("halo_exchange", "1 1024 1", 1_048_576, rounds=2),
)
"""Allreduce: ten calls of 1 KiB (8 B at two million ranks). Halo exchange with four neighbours: 64
B each, in one or two phases, and 1 KiB.
"""


@dataclass(frozen=True)
class Limit:
    """Target for a number of ranks."""

    bytes: float
    wall_s: float | None = None


LIMITS: Mapping[int, Limit] = {1_048_576: Limit(14e9, 120), 2_097_152: Limit(24e9)}
_GIB = 1 << 30


@dataclass(frozen=True)
class Run:
    """Run of one program with one number of ranks; no measurements if weft refused it."""

    program: str
    arguments: str
    ranks: int
    refused: str = ""
    user_s: float = 0
    system_s: float = 0
    wall_s: float = 0
    peak_gib: float = 0
    """Peak of the summed resident set sizes of all processes."""
    proportional_gib: float = 0
    """Peak of the summed proportional set sizes."""
    record_gib: float = 0
    """Peak RSS of the simulator process in the record, as reported by Linux."""


def write() -> None:
    """Execute missing measurements, and write the table."""
    rows: Table = []
    for number in range(1, max(case.rounds for case in CASES) + 1):
        refused = {_name(run) for run in read(rows) if run.refused}
        for case in CASES:
            if number <= case.rounds and _name(case) not in refused:
                name = "-".join(
                    (str(number), case.program, *case.arguments.split(), str(case.ranks))
                )
                rows += kept_rows("scale", [(name, partial(_part, case))], [f"{case.program}.c"])
    write_table(TABLE, rows)


def _name(of: "Case | Run") -> tuple[str, str, int]:
    return of.program, of.arguments, of.ranks


def _part(case: Case) -> Table:
    return [_cells(measure(case, FABRIC, case.ppn))]


def measure(case: Case, fabric: str, ppn: int) -> Run:
    """Run one of the programs; lack of memory is reported and is not an error."""
    with work_directory() as work:
        program = work / case.program
        compile_c(paths.example(f"{case.program}.c"), program)
        record = work / "record.json"
        usage = watched(_command(case, program, (fabric, ppn), record))
        if usage.status != 0:
            reason = (usage.errors.splitlines() or [f"ended with status {usage.status}"])[0]
            return _left_out(case, reason.removeprefix("weft: "))
        run = _run(case, usage, read_record(record).peak_memory_bytes)
    print(f"{_text(run)}, {run.ranks:,} ranks: {run.wall_s:.0f} s, {run.peak_gib:.2f} GiB")
    return run


def _text(of: Case | Run) -> str:
    return f"{of.program} {of.arguments}"


def _command(case: Case, program: Path, where: tuple[str, int], record: Path) -> list[str]:
    fabric, ppn = where
    placed = ["--fabric", fabric, "-n", str(case.ranks), "--ppn", str(ppn)]
    options = [*placed, "--json", str(record), "--memory", f"{_left_mib()}MiB"]
    command = [sys.executable, "-m", "weft.cli.main", "run", *options]
    return [*command, "--", str(program), *case.arguments.split()]


def _left_mib() -> int:
    """Return a run's memory limit, below the machine's free memory."""
    there, _ = Machine().memory()
    return (there >> 20) * 19 // 20


def _left_out(case: Case, reason: str) -> Run:
    print(f"{_text(case)}, {case.ranks:,} ranks: {reason}", file=sys.stderr, flush=True)
    return Run(case.program, case.arguments, case.ranks, reason)


def _run(case: Case, usage: Usage, recorded: int) -> Run:
    memory = (usage.resident_bytes, usage.proportional_bytes, recorded)
    times = (usage.user_s, usage.system_s, usage.wall_s)
    return Run(*_name(case), "", *times, *(held / _GIB for held in memory))


def _cells(run: Run) -> dict[str, str]:
    return {
        name: f"{value:.3f}" if isinstance(value, float) else str(value)
        for name, value in vars(run).items()
    }


def read(rows: Table) -> list[Run]:
    """Return the runs of a table."""
    return [
        Run(program, arguments, int(ranks), refused, *map(float, numbers))
        for program, arguments, ranks, refused, *numbers in (row.values() for row in rows)
    ]


def table(runs: Sequence[Run]) -> str:
    """Return the table for the page: medians over the rounds, and their largest peak."""
    heads = ("program", "ranks", "CPU: user", "system", "wall time", "peak memory", "per rank")
    rounds = _rounds([run for run in runs if not run.refused])
    lines = [_line(of_one) for of_one in rounds.values()]
    return markdown((*heads, "runs"), lines) + "\n" + _refusals(runs) + _checks(rounds)


Rounds = Mapping[tuple[str, str, int], Sequence[Run]]


def _rounds(runs: Sequence[Run]) -> Rounds:
    names = sorted({_name(run) for run in runs})
    return {name: [run for run in runs if _name(run) == name] for name in names}


def _spread(runs: Sequence[Run], quantity: str) -> Spread:
    return spread(float(getattr(run, quantity)) for run in runs)


def _line(runs: Sequence[Run]) -> tuple[str, ...]:
    first = runs[0]
    peak = _spread(runs, "peak_gib").most
    wall = _spread(runs, "wall_s")
    return (
        f"[`{_text(first)}`](../examples/{first.program}.c)",
        f"{first.ranks:,}",
        f"{_spread(runs, 'user_s').median:.1f} s",
        f"{_spread(runs, 'system_s').median:.1f} s",
        f"{wall.median:.0f} s ({wall.least:.0f} to {wall.most:.0f})",
        f"{peak:.2f} GiB",
        f"{peak * _GIB / first.ranks / 1024:.1f} KiB",
        str(len(runs)),
    )


def _refusals(runs: Sequence[Run]) -> str:
    refused = {(_text(run), run.ranks): run.refused for run in runs if run.refused}
    items = (f"- {text}, {ranks:,} ranks: {reason}" for (text, ranks), reason in refused.items())
    lines = [f"{fill(item, 100, subsequent_indent='  ')}\n" for item in items]
    return "What did not fit, and why:\n\n" + "".join(lines) + "\n" if lines else ""


def _checks(rounds: Rounds) -> str:
    ran = [run for runs in rounds.values() for run in runs]
    if not ran:
        return ""
    shared = max(abs(run.proportional_gib / run.peak_gib - 1) for run in ran)
    record = max(abs(run.record_gib / run.peak_gib - 1) for run in ran)
    text = (
        "Times are medians of the runs; the least and most follow the wall time in parentheses."
        " Peak memory is the largest of the runs: the largest sum of the resident sets of all"
        " processes, sampled from outside. The sum of their proportional sets, sampled less often,"
        f" differs by up to {shared:.1%}, and the record's `peak_memory_bytes`, of the simulator"
        f" alone, by up to {record:.1%}.\n"
    )
    return _wrapped(text + _against_limits(rounds))


def _wrapped(text: str) -> str:
    """Wrap text for `make lint`, at 100 columns without breaking code spans."""
    whole = re.sub("`[^`]*`", lambda span: span[0].replace(" ", "\0"), text)
    return fill(whole, 100).replace("\0", " ") + "\n"


def _against_limits(rounds: Rounds) -> str:
    return "".join(
        f"Limit for {ranks:,} ranks: {_goal(limit)}; {', '.join(verdicts)}.\n"
        for ranks, limit in LIMITS.items()
        if (
            verdicts := [
                _verdict(runs, limit) for runs in rounds.values() if runs[0].ranks == ranks
            ]
        )
    )


def _goal(limit: Limit) -> str:
    time = "" if limit.wall_s is None else f" and {limit.wall_s:.0f} s"
    return f"{limit.bytes / _GIB:.1f} GiB ({limit.bytes / 1e9:.0f} GB){time}"


def _verdict(runs: Sequence[Run], limit: Limit) -> str:
    most = _spread(runs, "peak_gib").most * _GIB
    late = limit.wall_s is not None and _spread(runs, "wall_s").median > limit.wall_s
    beyond = [what for what, is_so in (("memory", most > limit.bytes), ("time", late)) if is_so]
    missed = f"exceeds it ({' and '.join(beyond)})"
    return f"`{_text(runs[0])}` {missed if beyond else 'holds it'}"


def measure_all() -> None:
    """Measure both tables of the page."""
    many_ranks.write()
    write()


STUDY = Study(
    name="scale",
    about="what 4,096 to 2,097,152 ranks cost, on this machine",
    measure=measure_all,
    page=DOCS / "performance.md",
    texts=lambda: {
        "table: many ranks": many_ranks.table(read_table(many_ranks.TABLE)),
        "table: scale": table(read(read_table(TABLE))),
    },
)
