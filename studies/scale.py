# SPDX-License-Identifier: LGPL-2.1-only
"""What very many ranks cost: `make bench-scale`, a section of docs/performance.md.

Each run is the command that a user would type: `weft run` with the fabric, the number of ranks and
the program; and no more than that but `--memory`. What cannot run, as it does not fit into this
machine's memory, is refused by weft itself before it starts, or ended when it takes what there is;
that is said, it stands in the table, and the others go on.
All runs take turns, round by round; what has run is kept, and not run again.
"""

import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from studies.resume import kept_rows
from studies.study import DOCS, Study, Table, markdown, read_table, write_table
from studies.usage import Usage, watched
from weft.base import paths
from weft.base.process import work_directory
from weft.runs.limits import Machine
from weft.runs.record import read_record
from weft.runs.toolchain import compile_c

TABLE = DOCS / "scale.csv"
FABRIC = "fat-tree-65536"
SIZES: Mapping[int, int] = {16_384: 16, 65_536: 16, 262_144: 16, 1_048_576: 16}
"""Numbers of ranks, and how many of them a host has."""
ROUNDS = 5
PROGRAMS: Mapping[str, tuple[str, ...]] = {
    "allreduce_latency": ("1024", "10"),
    "halo_exchange": ("1", "1024"),
}
"""Programs of examples/ with their arguments: ten Allreduces of 1 KiB; one exchange with four
neighbours, 1 KiB each."""
LIMITED = 1_048_576
LIMITS = {"wall_s": 120.0, "peak_gib": 14e9 / (1 << 30)}
"""What that number of ranks is to stay within."""
_GIB = 1 << 30


@dataclass(frozen=True)
class Run:
    """One program with one number of ranks; nothing was measured where it was refused."""

    program: str
    ranks: int
    refused: str = ""
    user_s: float = 0
    system_s: float = 0
    wall_s: float = 0
    peak_gib: float = 0
    """Of all processes together, by their resident sets."""
    proportional_gib: float = 0
    """The same by their proportional sets."""
    record_gib: float = 0
    """What the record has: of the simulator's process, as Linux remembers it."""


def write() -> None:
    """Measure what has not been measured, and write the table."""
    rows: Table = []
    for number in range(1, ROUNDS + 1):
        refused = {(run.program, run.ranks) for run in read(rows) if run.refused}
        parts = [
            ("-".join((str(number), program, *arguments, f"{ranks}x{ppn}")), measured)
            for ranks, ppn in SIZES.items()
            for program, arguments in PROGRAMS.items()
            for measured in [partial(_part, program, ranks, ppn)]
            if (program, ranks) not in refused
        ]
        rows += kept_rows("scale", parts)
    write_table(TABLE, rows)


def _part(program: str, ranks: int, ppn: int) -> Table:
    return [_cells(measure(program, ranks, FABRIC, ppn))]


def measure(program: str, ranks: int, fabric: str, ppn: int) -> Run:
    """Run one of the programs; that it cannot run is said, and no error."""
    with work_directory() as work:
        compile_c(paths.example(f"{program}.c"), work / program)
        record = work / "record.json"
        usage = watched(_command(work / program, ranks, (fabric, ppn), record))
        if usage.status != 0:
            reason = (usage.errors.splitlines() or [f"ended with status {usage.status}"])[0]
            return _left_out(program, ranks, reason.removeprefix("weft: "))
        run = _run(program, ranks, usage, read_record(record).peak_memory_bytes)
    print(f"{run.program}, {run.ranks:,} ranks: {run.wall_s:.0f} s, {run.peak_gib:.2f} GiB")
    return run


def _command(program: Path, ranks: int, where: tuple[str, int], record: Path) -> list[str]:
    fabric, ppn = where
    placed = ["--fabric", fabric, "-n", str(ranks), "--ppn", str(ppn)]
    options = [*placed, "--json", str(record), "--memory", f"{_left_mib()}MiB"]
    command = [sys.executable, "-m", "weft.cli.main", "run", *options]
    return [*command, "--", str(program), *PROGRAMS[program.name]]


def _left_mib() -> int:
    """Return what a run may hold: one that takes more than it foresees ends before the machine."""
    there, _ = Machine().memory()
    return (there >> 20) * 19 // 20


def _left_out(program: str, ranks: int, reason: str) -> Run:
    print(f"{program}, {ranks:,} ranks: {reason}", file=sys.stderr, flush=True)
    return Run(program, ranks, reason)


def _run(program: str, ranks: int, usage: Usage, recorded: int) -> Run:
    memory = (usage.resident_bytes, usage.proportional_bytes, recorded)
    times = (usage.user_s, usage.system_s, usage.wall_s)
    return Run(program, ranks, "", *times, *(held / _GIB for held in memory))


def _cells(run: Run) -> dict[str, str]:
    return {
        name: f"{value:.3f}" if isinstance(value, float) else str(value)
        for name, value in vars(run).items()
    }


def read(rows: Table) -> list[Run]:
    """Return the runs of a table."""
    return [
        Run(program, int(ranks), refused, *map(float, numbers))
        for program, ranks, refused, *numbers in (row.values() for row in rows)
    ]


def table(runs: Sequence[Run]) -> str:
    """Return the table of the page: medians of the rounds, and the largest peak of them."""
    heads = ("program", "ranks", "CPU: user", "system", "wall time", "peak memory", "a rank")
    rounds = _rounds([run for run in runs if not run.refused])
    lines = [_line(of_one) for of_one in rounds.values()]
    return markdown((*heads, "runs"), lines) + "\n" + _refusals(runs) + _checks(rounds)


Rounds = Mapping[tuple[str, int], Sequence[Run]]


def _rounds(runs: Sequence[Run]) -> Rounds:
    names = sorted({(run.program, run.ranks) for run in runs})
    return {name: [run for run in runs if (run.program, run.ranks) == name] for name in names}


def _median(runs: Sequence[Run], quantity: str) -> float:
    return statistics.median(float(getattr(run, quantity)) for run in runs)


def _line(runs: Sequence[Run]) -> tuple[str, ...]:
    first = runs[0]
    peak = max(run.peak_gib for run in runs)
    walls = [run.wall_s for run in runs]
    return (
        f"[`{first.program}`](../examples/{first.program}.c)",
        f"{first.ranks:,}",
        f"{_median(runs, 'user_s'):.1f} s",
        f"{_median(runs, 'system_s'):.1f} s",
        f"{_median(runs, 'wall_s'):.0f} s ({min(walls):.0f} to {max(walls):.0f})",
        f"{peak:.2f} GiB",
        f"{peak * _GIB / first.ranks / 1024:.1f} KiB",
        str(len(runs)),
    )


def _refusals(runs: Sequence[Run]) -> str:
    refused = {(run.program, run.ranks): run.refused for run in runs if run.refused}
    lines = [
        f"- {program}, {ranks:,} ranks: *{reason}*\n"
        for (program, ranks), reason in refused.items()
    ]
    return "What did not fit, and why:\n\n" + "".join(lines) + "\n" if lines else ""


def _checks(rounds: Rounds) -> str:
    ran = [run for runs in rounds.values() for run in runs]
    if not ran:
        return ""
    shared = max(abs(run.proportional_gib / run.peak_gib - 1) for run in ran)
    record = max(abs(run.record_gib / run.peak_gib - 1) for run in ran)
    text = (
        "Times are medians of the runs, behind the wall time the least and the most; peak memory is"
        " the largest of the runs, of all processes together: the largest sum of their resident"
        " sets, looked at from outside. That of their proportional sets, looked at less often,"
        f" differs by up to {shared:.1%}, and `peak_memory_bytes` of the record, which is of the"
        f" simulator alone, by up to {record:.1%}.\n"
    )
    return text + _against_limits(rounds)


def _against_limits(rounds: Rounds) -> str:
    verdicts = [
        f"{program} {'keeps' if _within(runs) else 'does not keep'} within them"
        for (program, ranks), runs in rounds.items()
        if ranks == LIMITED
    ]
    if not verdicts:
        return ""
    goal = f"{LIMITS['peak_gib']:.1f} GiB (14 GB) and {LIMITS['wall_s']:.0f} s"
    return f"Of {LIMITED:,} ranks, {goal} are the limits: {'; '.join(verdicts)}.\n"


def _within(runs: Sequence[Run]) -> bool:
    most = max(run.peak_gib for run in runs)
    return _median(runs, "wall_s") <= LIMITS["wall_s"] and most <= LIMITS["peak_gib"]


STUDY = Study(
    name="scale",
    about="what 16,384 to 1,048,576 ranks cost, on this machine",
    measure=write,
    page=DOCS / "performance.md",
    texts=lambda: {"table: scale": table(read(read_table(TABLE)))},
)
