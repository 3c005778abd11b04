# SPDX-License-Identifier: LGPL-2.1-only
"""Gain of each switch for each program: the table of docs/real-programs.md.

Computation takes no time, so that the gain covers only communication; one more run includes
computation, to determine the fraction of communication.
"""

from functools import partial
from pathlib import Path

from studies.real_programs.programs import (
    LARGE,
    SMALL,
    Finished,
    Program,
    fabric_with,
    run_weft,
)
from studies.resume import kept_rows
from studies.study import DOCS, Study, Table, read_table, write_table
from weft import _core
from weft.base.process import work_directory
from weft.benchmarks.measured import is_scaled

TABLE = DOCS / "real-programs.csv"
PROGRAMS = (*SMALL, *LARGE)
# Speed of the fabric's hosts, for which simulated computation takes as long as on the simulating
# machine.
_HOST_SPEED = "76.8Gf"


def write() -> None:
    """Run all programs, and write the table."""
    parts = [(program.part, partial(measure, program)) for program in PROGRAMS]
    write_table(TABLE, kept_rows("real-programs", parts))


def measure(program: Program) -> Table:
    """Run a program with each switch: never, always, mostly offloaded; once with computation."""
    with work_directory() as directory:
        return _measure(program, directory)


def _measure(program: Program, directory: Path) -> Table:
    rows = []
    computing = ""
    for preset in _core.list_presets("switch"):
        fabric = fabric_with(preset, directory)
        if not _sums(str(fabric)) or is_scaled(preset):
            continue
        off = run_weft(program, fabric, directory, "--offload", "off")
        if not computing:
            speed = ("--offload", "off", "--host-speed", _HOST_SPEED)
            computing = f"{_time_us(run_weft(program, fabric, directory, *speed)):.1f}"
        on = run_weft(program, fabric, directory)
        auto = run_weft(program, fabric, directory, "--offload", "auto")
        rows.append(_row(program, preset, (off, on, auto), computing))
    return rows


def _sums(fabric: str) -> bool:
    rules = _core.load_fabric(fabric).switches[0]["offload"]
    return any("allreduce" in rule["collectives"] for rule in rules)


def _time_us(run: Finished) -> float:
    seconds: float = run.record["simulated_time_s"]
    return seconds * 1e6


def _row(
    program: Program, switch: str, runs: tuple[Finished, Finished, Finished], computing: str
) -> dict[str, str]:
    off, on, auto = map(_time_us, runs)
    collectives = runs[1].record["collectives"]
    offloaded = sum(row["calls"] for row in collectives if row["path"] != "fallback")
    return {
        "program": program.name,
        "ranks": str(program.ranks),
        "switch": switch,
        "collectives": str(sum(row["calls"] for row in collectives)),
        "offloaded": str(offloaded),
        "off_us": f"{off:.1f}",
        "on_us": f"{on:.1f}",
        "gain": _gain(on, off),
        "auto_us": f"{auto:.1f}",
        "auto_gain": _gain(auto, off),
        "off_computing_us": computing,
        "verified": "yes" if all(run.verified for run in runs) else "no",
    }


def _gain(time: float, before: float) -> str:
    return f"{1 - time / before:.1%}".replace("-0.0%", "0.0%")


def markdown(rows: Table) -> str:
    """Return the rows as a table."""
    head = "program | ranks | switch | offloaded calls | off, us | on, us | gain | auto, us | gain"
    head += " | off, computation timed, us | verified"
    lines = [f"| {head} |", "|" + "---|" * (head.count("|") + 1)]
    for row in rows:
        cells = (
            *(row["program"], row["ranks"], row["switch"]),
            f"{row['offloaded']} of {row['collectives']}",
            *(row["off_us"], row["on_us"], row["gain"], row["auto_us"], row["auto_gain"]),
            *(row["off_computing_us"], row["verified"]),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


STUDY = Study(
    name="real-programs",
    about="NAS DT, EP, IS and HPCC with each switch",
    measure=write,
    page=DOCS / "real-programs.md",
    texts=lambda: {"table: real-programs": markdown(read_table(TABLE))},
)
