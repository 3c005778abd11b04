"""`make real-programs`: what each switch gains on each program; the table of docs/real-programs.md.

Computation takes no time, so that the gain is that on communication alone; one more run times it,
to say how much of the whole communication is.
"""

import csv
import tempfile
from pathlib import Path

from real_programs.programs import LARGE, SMALL, Finished, Program, fabric_with, run_weft
from real_programs.sources import ROOT
from weft import _core

TABLE = ROOT / "docs" / "real-programs.csv"
DOCUMENT = ROOT / "docs" / "real-programs.md"
_BEGIN, _END = "<!-- table: make real-programs -->\n", "<!-- end -->\n"
# That of the fabric's hosts, so that computation takes as long as on the machine that simulates.
_HOST_SPEED = "76.8Gf"
_COLUMNS = (
    *("program", "ranks", "switch", "collectives", "offloaded", "off_us", "on_us", "gain"),
    *("auto_us", "auto_gain", "off_computing_us", "verified"),
)


def main() -> None:
    """Run all, write the table and the document."""
    rows: list[dict[str, str]] = []
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for program in (*SMALL, *LARGE):
            rows += measure(program, directory)
            print(*rows[-1].values(), flush=True)
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, _COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(_BEGIN)
    after = rest.partition(_END)[2]
    DOCUMENT.write_text(before + _BEGIN + markdown(rows) + _END + after, encoding="utf-8")


def measure(program: Program, directory: Path) -> list[dict[str, str]]:
    """Run a program around each switch: never, always and mostly offloaded, once computing."""
    rows = []
    computing = ""
    for preset in (name for name in _core.list_presets("switch") if name != "l2"):
        fabric = fabric_with(preset, directory)
        off = run_weft(program, fabric, directory, "--offload", "off")
        if not computing:
            speed = ("--offload", "off", "--host-speed", _HOST_SPEED)
            computing = f"{_time_us(run_weft(program, fabric, directory, *speed)):.1f}"
        on = run_weft(program, fabric, directory)
        auto = run_weft(program, fabric, directory, "--offload", "auto")
        rows.append(_row(program, preset, (off, on, auto), computing))
    return rows


def _time_us(run: Finished) -> float:
    seconds: float = run.result.record["simulated_time_s"]
    return seconds * 1e6


def _row(
    program: Program, switch: str, runs: tuple[Finished, Finished, Finished], computing: str
) -> dict[str, str]:
    off, on, auto = map(_time_us, runs)
    collectives = runs[1].result.record["collectives"]
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


def markdown(rows: list[dict[str, str]]) -> str:
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


if __name__ == "__main__":
    main()
