# SPDX-License-Identifier: LGPL-2.1-only
"""Accuracy of trace replays: the second table of docs/real-programs.md.

Each program is recorded twice, with free and with timed computation, and each trace is replayed on
the recorded fabric. The first trace is also replayed on another fabric, on which the program is run
for comparison.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from studies.real_programs import sources
from studies.real_programs.programs import (
    LARGE,
    SMALL,
    Program,
    example,
    fabric_with,
    own,
    run_weft,
)
from studies.resume import kept_rows
from studies.study import DOCS, ROOT, Study, Table, read_table, write_table
from weft.base.process import work_directory
from weft.runs import launch
from weft.runs.record import Record
from weft.runs.replay import replay_request
from weft.trace.folder import Folder, read_folder

TABLE = DOCS / "real-programs-traces.csv"
_HERE, _ELSEWHERE = "sharp", "tofino"
_HOST_SPEED = "76.8Gf"


PROGRAMS = (
    *SMALL,
    *LARGE,
    own("halo", sources.CASE / "halo.c", 27),
    example("ft", 16, "64", "64", "64", "3"),
    example("cg", 16, "1400", "2"),
    example("bfs", 16, "12"),
    *(example("npb", 16, code) for code in ("bt", "sp", "lu", "mg")),
    example("fsdp_step", 8, "4", "1048576", "200", "ring"),
    *(
        own("recorded", ROOT / "tests" / "smpi" / "recorded.c", 16, part)
        for part in (
            *("waitany", "waitsome", "testall", "testany", "testsome", "probes"),
            *("communicators", "derived", "collectives"),
        )
    ),
)


def write() -> None:
    """Record and replay all programs, and write the table."""
    parts = [(program.part, partial(measure, program)) for program in PROGRAMS]
    write_table(TABLE, kept_rows("real-program-traces", parts))


@dataclass(frozen=True)
class _Recorded:
    """Run with its trace."""

    record: dict[str, Any]
    folder: Folder

    def again(self, fabric: Path, offload: str = "stream") -> Record:
        """Return the replay of the trace."""
        return launch.run(
            launch.prepare(replay_request(self.folder, fabric=str(fabric), offload=offload))
        )

    def off_by(self, replayed: Record) -> float:
        """Return the relative deviation of a replay from the run."""
        ran: float = self.record["simulated_time_s"]
        return replayed.simulated_time_s / ran - 1


def measure(program: Program) -> Table:
    """Record a program and replay it."""
    with work_directory() as directory:
        return [_measure(program, directory)]


def _measure(program: Program, directory: Path) -> dict[str, str]:
    here, elsewhere = (fabric_with(preset, directory) for preset in (_HERE, _ELSEWHERE))
    free = _record(program, here, directory / "free")
    timed = _record(program, here, directory / "timed", "--host-speed", _HOST_SPEED)
    again = free.again(here)
    there = run_weft(program, elsewhere, directory, "--offload", "off").record["simulated_time_s"]
    lines = free.folder.manifest.lines  # type: ignore[union-attr]
    return {
        "program": program.name,
        "ranks": str(program.ranks),
        "lines": str(lines),
        "bytes_a_line": f"{free.folder.lines.stat().st_size / lines:.1f}",
        "program_us": f"{free.record['simulated_time_s'] * 1e6:.3f}",
        "off_by": f"{free.off_by(again):.1e}",
        "timed_us": f"{timed.record['simulated_time_s'] * 1e6:.3f}",
        "timed_off_by": f"{timed.off_by(timed.again(here)):.1e}",
        "elsewhere_us": f"{there * 1e6:.3f}",
        "elsewhere_off_by": f"{free.again(elsewhere, 'off').simulated_time_s / there - 1:.1e}",
        "run_s": f"{free.record['wall_time_s']:.2f}",
        "replay_s": f"{again.wall_time_s:.2f}",
    }


def _record(program: Program, fabric: Path, target: Path, *options: str) -> _Recorded:
    ran = run_weft(program, fabric, target.parent, "--record", str(target), *options)
    return _Recorded(ran.record, read_folder(target))


def _share(text: str) -> str:
    """Format a difference; below a millionth, it is a rounding error."""
    value = abs(float(text))
    return "0" if value < 1e-6 else f"{value:.4%}" if value < 1e-3 else f"**{value:.2%}**"


def markdown(rows: Table) -> str:
    """Return the rows as a table."""
    head = "program | ranks | lines | bytes per line | program, us | replay error"
    head += " | computation timed, us | replay error | elsewhere, us | replay error"
    head += " | run, s | replay, s"
    lines = [f"| {head} |", "|" + "---|" * (head.count("|") + 1)]
    columns: dict[str, Callable[[str], str]] = dict.fromkeys(rows[0], str)
    columns.update({name: _share for name in columns if name.endswith("off_by")})
    for row in rows:
        lines.append(f"| {' | '.join(show(row[name]) for name, show in columns.items())} |")
    return "\n".join(lines) + "\n"


STUDY = Study(
    name="real-program-traces",
    about="how near replays of real programs' traces are",
    measure=write,
    page=DOCS / "real-programs.md",
    texts=lambda: {"table: real-program-traces": markdown(read_table(TABLE))},
)
