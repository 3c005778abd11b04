# SPDX-License-Identifier: LGPL-2.1-only
"""Simulator speed: `make bench`, or `.venv/bin/python benchmarks/run.py [--rounds N]`.

Prints the CPU time per rank and call with the standards that weft must meet, and the quality of
`--offload auto`'s choices; writes bench.json, bench.csv and auto.csv to build/bench. A missed
standard is reported but does not fail the command, because other load on the machine causes misses
too.
"""

import argparse
import csv
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import allreduce
import campaigns
import choices
import forwarding_cache
import host_calls
import in_network
import large_fabrics
import messages
import network
import packets
import report_page
import schedules
from allreduce import Key, Standard
from choices import Choice
from measure import Cost, measure, ratio
from rich.table import Table

from weft import _core
from weft.base.output import whole_file
from weft.base.process import raise_on_signals, work_directory
from weft.base.tables import console, new_table, print_table, print_title

OUT = Path(__file__).parent.parent / "build" / "bench"
Row = dict[str, Any]


def main() -> None:
    """Measure, print and write the results."""
    options = _parse()
    raise_on_signals()
    OUT.mkdir(parents=True, exist_ok=True)
    with work_directory() as work:
        pair = host_calls.cases(work)
        cases = {
            **allreduce.cases(work),
            **in_network.cases(work),
            **pair.cases(),
            **messages.cases(work),
            **network.cases(work),
            **schedules.cases(work),
            **forwarding_cache.cases(work),
            **large_fabrics.routes(work),
        }
        costs = measure(cases, options.rounds, lambda number: _progress(number, options.rounds))
        print("bench: 256 ranks a host", file=sys.stderr, flush=True)
        costs |= measure(schedules.very_crowded(work), 1, lambda _: None)
        print("bench: 65,536 hosts", file=sys.stderr, flush=True)
        costs |= measure(messages.large(work), 1, lambda _: None)
        built = large_fabrics.build_and_check()
        multicast = large_fabrics.multicast_allgather(work)
        costs |= measure(large_fabrics.all_ranks(work), 1, lambda _: None)
        print("bench: packets", file=sys.stderr, flush=True)
        of_packets = packets.standards(work)
        print("bench: campaigns", file=sys.stderr, flush=True)
        of_campaigns = campaigns.standards(work)
        print("bench: the page of 10,000 runs", file=sys.stderr, flush=True)
        of_pages = report_page.standards(work)
        print("bench: --offload auto", file=sys.stderr, flush=True)
        chosen = choices.measure(work)
    standards = [
        *allreduce.standards(costs),
        *in_network.standards(costs),
        *host_calls.standards(costs),
        *schedules.standards(costs),
        *messages.standards(costs),
        *network.standards(costs),
        *of_packets,
        *forwarding_cache.standards(costs),
        *large_fabrics.standards(built, multicast, costs),
        *of_campaigns,
        *of_pages,
    ]
    overhead = ratio(costs[host_calls.WEFT], costs[host_calls.STOCK])
    rows = [_row(key, cost) for key, cost in costs.items()]
    _print(rows, standards)
    _print_overhead(overhead, same=pair.same_simulated_time)
    _print_choices(chosen)
    choices.write(chosen, OUT / "auto.csv")
    _write(rows, standards, options.rounds, overhead, same=pair.same_simulated_time)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error(f"--rounds: found {options.rounds}; allowed: 1 and more")
    return options


def _progress(number: int, rounds: int) -> None:
    print(f"bench: round {number} of {rounds}", file=sys.stderr, flush=True)


def _row(key: Key, cost: Cost) -> Row:
    return {
        "benchmark": key.benchmark,
        "mode": key.mode,
        "ranks": key.ranks,
        "ppn": key.ppn,
        "cpu_us_per_rank_and_call": round(cost.median_us, 4),
        "least_us": round(min(cost.cpu_us), 4),
        "most_us": round(max(cost.cpu_us), 4),
        "least_difference_s": round(min(cost.difference_s), 3),
        "peak_memory_MiB": round(cost.peak_memory_bytes / 2**20, 1),
        "rounds_us": [round(value, 4) for value in cost.cpu_us],
    }


def _print(rows: Sequence[Row], standards: Sequence[Standard]) -> None:
    on = console()
    names = ("benchmark", "mode", "ranks", "ppn", "median us", "least", "most", "peak MiB")
    table = new_table(names, left=names[:2])
    for row in rows:
        table.add_row(
            *(str(row[name]) for name in ("benchmark", "mode", "ranks", "ppn")),
            f"{row['cpu_us_per_rank_and_call']:.2f}",
            f"{row['least_us']:.2f}",
            f"{row['most_us']:.2f}",
            f"{row['peak_memory_MiB']:.0f}",
        )
    print_title("CPU time (user and system) per rank and call, over the rounds", on)
    print_table(table, on)
    on.print()
    print_table(_standards(standards), on)


def _standards(standards: Sequence[Standard]) -> Table:
    table = new_table(("standard", "figure", "limit", "held"), left=("standard",))
    for one in standards:
        limit = f"{'<=' if one.at_most else '>='} {one.limit:g}{one.unit}"
        held = "ok" if one.met else "missed"
        table.add_row(one.what, f"{one.figure:.3g}{one.unit}", limit, held)
    return table


def _print_overhead(overhead: float, *, same: bool) -> None:
    times = "the same, to the last digit" if same else "DIFFERENT"
    on = console()
    on.print(
        f"\nNothing offloaded, weft against SimGrid alone: {overhead:.3f} times the CPU time;"
        f" simulated times are {times}.",
        soft_wrap=True,
    )


def _print_choices(chosen: Sequence[Choice]) -> None:
    on = console()
    on.print()
    title = "--offload auto, against the hosts' default algorithms and against the best of several"
    print_title(title, on)
    print_table(choices.table(chosen), on)


def _write(
    rows: Sequence[Row], standards: Sequence[Standard], rounds: int, overhead: float, *, same: bool
) -> None:
    report = {
        "weft": _core.version,
        "simgrid": _core.simgrid_version,
        "rounds": rounds,
        "cases": rows,
        "standards": [_standard(one) for one in standards],
        "host_calls": {"cpu_ratio_to_simgrid_alone": overhead, "same_simulated_time": same},
    }
    with whole_file("bench", OUT / "bench.json") as file:
        json.dump(report, file, indent=1)
        file.write("\n")
    columns = [name for name in rows[0] if name != "rounds_us"]
    with whole_file("bench", OUT / "bench.csv") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    written = ", ".join(map(_shown, ("bench.json", "bench.csv", "auto.csv")))
    console().print(f"\nWritten: {written}", soft_wrap=True)


def _standard(one: Standard) -> Mapping[str, Any]:
    return {
        "what": one.what,
        "figure": one.figure,
        "limit": one.limit,
        "unit": one.unit,
        "at_most": one.at_most,
        "met": one.met,
    }


def _shown(name: str) -> str:
    return str((OUT / name).relative_to(OUT.parent.parent))


if __name__ == "__main__":
    main()
