# SPDX-License-Identifier: LGPL-2.1-only
"""What very many ranks cost: `make bench-scale`, a section of docs/performance.md.

Each run is the command that a user would type, and no more: `weft run` with the fabric, the number
of ranks and the program. What cannot run, as it does not fit into this machine's memory, is
refused by weft itself before it starts; that is said, it stands in the table, and the others go on.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from studies.study import DOCS, Study, Table, markdown, read_table, write_table
from studies.usage import Usage, watched
from weft.base import paths
from weft.base.process import work_directory
from weft.runs.record import read_record
from weft.runs.toolchain import compile_c

TABLE = DOCS / "scale.csv"
FABRIC, PPN = "fat-tree-65536", 16
SIZES = (16_384, 65_536, 262_144, 1_048_576)
PROGRAMS: Mapping[str, tuple[str, ...]] = {
    "allreduce_latency": ("1024", "10"),
    "halo_exchange": ("10", "1024"),
}
"""Programs of examples/ with their arguments: ten Allreduces of 1 KiB; ten exchanges with four
neighbours, 1 KiB each."""
LIMITS = {"wall_s": 120.0, "peak_gib": 14.0}
"""What the largest number of ranks is to stay within."""
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
    """Measure all, and write the table."""
    write_table(TABLE, [_cells(run) for run in measure(SIZES)])


def measure(sizes: Sequence[int], fabric: str = FABRIC, ppn: int = PPN) -> list[Run]:
    """Run the programs with these numbers of ranks; what cannot run is said and left out."""
    with work_directory() as work:
        programs = {name: work / name for name in PROGRAMS}
        for name, program in programs.items():
            compile_c(paths.example(f"{name}.c"), program)
        runs: list[Run] = []
        for program in programs.values():
            for ranks in sizes:
                runs.append(_measure(program, ranks, (fabric, ppn), work / "record.json"))
    return runs


def _measure(program: Path, ranks: int, where: tuple[str, int], record: Path) -> Run:
    usage = watched(_command(program, ranks, where, record))
    if usage.status != 0:
        reason = (usage.errors.splitlines() or [f"ended with status {usage.status}"])[0]
        return _left_out(program.name, ranks, reason.removeprefix("weft: "))
    run = _run(program.name, ranks, usage, read_record(record).peak_memory_bytes)
    print(f"{run.program}, {ranks:,} ranks: {run.wall_s:.0f} s, {run.peak_gib:.2f} GiB", flush=True)
    return run


def _command(program: Path, ranks: int, where: tuple[str, int], record: Path) -> list[str]:
    fabric, ppn = where
    placed = ["--fabric", fabric, "-n", str(ranks), "--ppn", str(ppn)]
    options = [*placed, "--json", str(record)]
    command = [sys.executable, "-m", "weft.cli.main", "run", *options]
    return [*command, "--", str(program), *PROGRAMS[program.name]]


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
    """Return the table of the page."""
    heads = ("program", "ranks", "CPU: user", "system", "wall time", "peak memory", "a rank")
    return markdown(heads, [_line(run) for run in runs]) + "\n" + _refusals(runs) + _checks(runs)


def _line(run: Run) -> tuple[str, ...]:
    name = f"[`{run.program}`](../examples/{run.program}.c)"
    if run.refused:
        return (name, f"{run.ranks:,}", "-", "-", "-", "not run", "-")
    return (
        name,
        f"{run.ranks:,}",
        f"{run.user_s:.1f} s",
        f"{run.system_s:.1f} s",
        f"{run.wall_s:.0f} s",
        f"{run.peak_gib:.2f} GiB",
        f"{run.peak_gib * _GIB / run.ranks / 1024:.1f} KiB",
    )


def _refusals(runs: Sequence[Run]) -> str:
    lines = [
        f"- {run.program}, {run.ranks:,} ranks: *{run.refused}*\n" for run in runs if run.refused
    ]
    return "What has not been run, and why:\n\n" + "".join(lines) + "\n" if lines else ""


def _checks(runs: Sequence[Run]) -> str:
    ran = [run for run in runs if not run.refused]
    if not ran:
        return ""
    shared = max(abs(run.proportional_gib / run.peak_gib - 1) for run in ran)
    record = max(abs(run.record_gib / run.peak_gib - 1) for run in ran)
    text = (
        "Peak memory is that of all processes together: the largest sum of their resident sets,"
        " looked at from outside. That of their proportional sets, looked at less often, differs by"
        f" up to {shared:.1%}, and `peak_memory_bytes` of the record, which is of the simulator"
        f" alone, by up to {record:.1%}.\n"
    )
    return text + _against_limits(ran)


def _against_limits(runs: Sequence[Run]) -> str:
    largest = [run for run in runs if run.ranks == max(SIZES)]
    verdicts = [
        f"{run.program} {'keeps' if _within(run) else 'does not keep'} within them"
        for run in largest
    ]
    if not verdicts:
        return ""
    goal = f"{LIMITS['peak_gib']:.0f} GiB and {LIMITS['wall_s']:.0f} s"
    return f"Of {max(SIZES):,} ranks, {goal} are the limits: {'; '.join(verdicts)}.\n"


def _within(run: Run) -> bool:
    return run.wall_s <= LIMITS["wall_s"] and run.peak_gib <= LIMITS["peak_gib"]


STUDY = Study(
    name="scale",
    about="what 65,536 to 1,048,576 ranks cost, on this machine",
    measure=write,
    page=DOCS / "performance.md",
    texts=lambda: {"table: scale": table(read(read_table(TABLE)))},
)
