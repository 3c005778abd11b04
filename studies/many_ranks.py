# SPDX-License-Identifier: LGPL-2.1-only
"""Cost of many ranks on few hosts, with the program shared or copied: a table of `studies scale`.

As in docs/growth.md, CPU time is the simulator process's user and system time, and memory its peak
RSS.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from studies.resume import kept_rows
from studies.rounds import spread
from studies.study import DOCS, OPTION, Table, markdown, write_table
from weft.base import paths
from weft.base.errors import WeftError
from weft.base.process import work_directory
from weft.runs import launch
from weft.runs.request import Request
from weft.runs.toolchain import compile_c

TABLE = DOCS / "many-ranks.csv"
ROUNDS = 3
_FABRIC = "tofino-64x64"
_HOSTS = 64
_SOURCE = "allreduce_latency.c"
_ARGUMENTS = ("1024", "10")
_VARIABLE = "\nint with_a_variable;\n"


@dataclass(frozen=True)
class Case:
    """Ranks per host, and kind of program: a program with a global variable is copied per rank."""

    ppn: int
    copied: bool = False

    @property
    def ranks(self) -> int:
        """Total number of ranks."""
        return _HOSTS * self.ppn

    @property
    def kind(self) -> str:
        """Handling of the program: shared or copied."""
        return "copied" if self.copied else "shared"


CASES = (Case(64), Case(64, copied=True), Case(256), Case(469))


def write() -> None:
    """Execute missing measurements, all cases once per round, and write the table."""
    with work_directory() as work:
        program = cache(partial(_compiled, work))
        parts = [
            (
                "-".join((str(number), case.kind, str(case.ranks), *_ARGUMENTS)),
                partial(_rows, case, program),
            )
            for number in range(1, ROUNDS + 1)
            for case in CASES
        ]
        write_table(TABLE, kept_rows("many-ranks", parts, [_SOURCE]))


def _compiled(work: Path, kind: str) -> Path:
    text = paths.example(_SOURCE).read_text(encoding="utf-8")
    source = work / f"{kind}.c"
    source.write_text(text + (_VARIABLE if kind == "copied" else ""), encoding="utf-8")
    compile_c(source, work / kind)
    return work / kind


def _rows(case: Case, program: Callable[[str], Path]) -> Table:
    request = Request.of(
        fabric=_FABRIC,
        changes=(f"host.cores={case.ppn}",),
        ranks=case.ranks,
        ppn=case.ppn,
        program=str(program(case.kind)),
        arguments=_ARGUMENTS,
        offload="stream",
    )
    record = launch.run(launch.prepare(request), lambda _: None)
    if record.failed:
        raise WeftError(f"{OPTION}: many ranks: {case.ranks:,}: {record.outcome.message}")
    return [
        {
            "ranks": str(case.ranks),
            "ppn": str(case.ppn),
            "program": case.kind,
            "cpu_s": f"{record.cpu_time_s:.3f}",
            "peak_mib": f"{record.peak_memory_bytes / 2**20:.1f}",
        }
    ]


def table(rows: Table) -> str:
    """Return the table for the page, with medians over the rounds."""
    heads = ("fabric", "program", "ranks", "CPU time", "peak memory")
    names = list(dict.fromkeys((row["ppn"], row["program"]) for row in rows))
    lines = [_line([row for row in rows if (row["ppn"], row["program"]) == name]) for name in names]
    return markdown(heads, lines, left=2)


def _line(rows: Sequence[dict[str, str]]) -> tuple[str, ...]:
    ranks, ppn = int(rows[0]["ranks"]), int(rows[0]["ppn"])
    cpu_s, peak_mib = (
        spread(float(row[name]) for row in rows).median for name in ("cpu_s", "peak_mib")
    )
    fabric = f"star, {ranks // ppn} x {ppn}"
    return fabric, rows[0]["program"], f"{ranks:,}", f"{cpu_s:.1f} s", f"{peak_mib:,.0f} MiB"
