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
# That of the fabric's hosts, so that a rank computes as long as it does on the machine that simulates.
_HOST_SPEED = "76.8Gf"
_COLUMNS = ("program", "ranks", "switch", "offloaded", "collectives", "time_us", "gain", "verified")


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
    """Run a program without offload, with each switch, and with its computation timed."""
    presets = [name for name in _core.list_presets("switch") if name != "l2"]
    tofino = fabric_with("tofino", directory)
    off = run_weft(program, tofino, directory, "--offload", "off")
    rows = [_row(program, "off", off, off)]
    for preset in presets:
        run = run_weft(program, fabric_with(preset, directory), directory)
        rows.append(_row(program, preset, run, off))
    timed = run_weft(program, tofino, directory, "--offload", "off", "--host-speed", _HOST_SPEED)
    rows.append(_row(program, "off, computation timed", timed, off) | {"gain": ""})
    return rows


def _row(program: Program, switch: str, run: Finished, off: Finished) -> dict[str, str]:
    record = run.result.record
    collectives = record["collectives"]
    offloaded = sum(row["calls"] for row in collectives if row["path"] != "fallback")
    time, before = record["simulated_time_s"], off.result.record["simulated_time_s"]
    return {
        "program": program.name,
        "ranks": str(program.ranks),
        "switch": switch,
        "offloaded": str(offloaded),
        "collectives": str(sum(row["calls"] for row in collectives)),
        "time_us": f"{time * 1e6:.1f}",
        "gain": f"{1 - time / before:.1%}",
        "verified": "yes" if run.verified else "no",
    }


def markdown(rows: list[dict[str, str]]) -> str:
    """Return the rows as a table."""
    head = "program | ranks | switch | offloaded calls | time, us | gain | verified"
    lines = [f"| {head} |", "|" + "---|" * head.count("|") + "---|"]
    for row in rows:
        cells = (
            *(row["program"], row["ranks"], row["switch"]),
            f"{row['offloaded']} of {row['collectives']}",
            *(row["time_us"], row["gain"], row["verified"]),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
