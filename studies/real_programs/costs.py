# SPDX-License-Identifier: LGPL-2.1-only
"""CPU time of real programs under weft and under plain SMPI: a table of docs/real-programs.md.

Both simulate the same 16 hosts, without offload and with free computation. CPU time covers the
whole command: `weft run`, including Python's start, and `smpirun`. The commands alternate.
"""

import resource
from collections.abc import Callable
from functools import partial

from studies.real_programs import sources
from studies.real_programs.programs import (
    FABRIC,
    LARGE,
    Finished,
    Program,
    example,
    own,
    run_stock,
    run_weft,
)
from studies.resume import kept_rows
from studies.rounds import Spread, spread
from studies.study import DOCS, Study, Table, read_table, write_table
from weft import _core
from weft.base.errors import WeftError
from weft.base.process import work_directory
from weft.fabric.export import export

TABLE = DOCS / "real-programs-costs.csv"
ROUNDS = 3
PROGRAMS = (
    *LARGE,
    own("halo", sources.CASE / "halo.c", 64, "6", "40"),
    *(example("npb", 64, code) for code in ("lu", "mg")),
    example("cg", 64, "14000", "10"),
    example("bfs", 64, "16"),
    example("ft", 64, "64", "64", "64", "6"),
)


def write() -> None:
    """Run all programs, and write the table."""
    parts = [(program.part, partial(measure, program)) for program in PROGRAMS]
    write_table(TABLE, kept_rows("real-program-costs", parts))


def measure(program: Program) -> Table:
    """Run a program alternately with weft and with plain SMPI."""
    program.compiled()
    with work_directory() as directory:
        platform = directory / "platform.xml"
        export(_core.load_fabric(str(FABRIC)), platform)
        ways: dict[str, Callable[[], Finished]] = {
            "smpi": lambda: run_stock(program, platform, directory),
            "weft": lambda: run_weft(program, FABRIC, directory, "--offload", "off"),
        }
        seconds: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(ROUNDS):
            for way, run in ways.items():
                seconds[way].append(_cpu_time(program, run))
    return [_row(program, {way: spread(times) for way, times in seconds.items()})]


def _cpu_time(program: Program, run: Callable[[], Finished]) -> float:
    before = _children()
    ran = run()
    spent = _children() - before
    if ran.status != program.status or (ran.findings and not ran.verified):
        raise WeftError(f"studies: {program.name} has failed:\n{ran.output}")
    return spent


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _row(program: Program, cpu: dict[str, Spread]) -> dict[str, str]:
    row = {"program": program.name, "ranks": str(program.ranks)}
    for way, times in cpu.items():
        row |= {f"{way}_{name}_s": f"{value:.2f}" for name, value in times._asdict().items()}
    return row | {"ratio": f"{cpu['weft'].median / cpu['smpi'].median:.2f}"}


def markdown(rows: Table) -> str:
    """Return the rows as a table."""
    lines = ["| program | ranks | SMPI alone, s | weft, s | ratio |", "|---|---:|---:|---:|---:|"]
    for row in rows:
        cpu = (
            f"{row[f'{way}_median_s']} ({row[f'{way}_least_s']} to {row[f'{way}_most_s']})"
            for way in ("smpi", "weft")
        )
        lines.append(f"| {' | '.join((row['program'], row['ranks'], *cpu, row['ratio']))} |")
    return "\n".join(lines) + "\n"


STUDY = Study(
    name="real-program-costs",
    about="CPU time of real programs under weft and under SMPI alone",
    measure=write,
    page=DOCS / "real-programs.md",
    texts=lambda: {"table: real-program-costs": markdown(read_table(TABLE))},
)
