# SPDX-License-Identifier: LGPL-2.1-only
"""An MPI developer's question: the fastest Allreduce algorithm by size.

A library chooses by size and number of ranks. Here each of Open MPI's algorithms is timed on
sixteen hosts, and the choice of Open MPI 5.0 is compared with the fastest one.

    python mpi_developer.py

Prints the sizes for which the choice is not the fastest, and draws mpi_developer.png. The hosts are
those of Belbeisi et al. (CF '26); measurements exist for four of them and two of the algorithms.
"""

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import polars as pl

import weft

FABRIC, RANKS, SIZES = "tofino-16", 16, "64:1MiB"
LIBRARY = "openmpi-5.0"
ALGORITHMS = ["recursive_doubling", "ring", "rabenseifner", "nonoverlapping"]
LOOKS = {LIBRARY: ("#000000", "--"), "recursive_doubling": ("#0072B2", "-")}
LOOKS |= {
    "ring": ("#D55E00", "-."),
    "rabenseifner": ("#009E73", ":"),
    "nonoverlapping": ("#CC79A7", "-"),
}


def draw(times: pl.DataFrame) -> None:
    """Draw the time of each algorithm relative to the fastest one of each size."""
    figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
    for mode, (colour, dash) in LOOKS.items():
        one = times.filter(pl.col("mode") == mode)
        width = 2.5 if mode == LIBRARY else 1.5
        axes.plot(one["bytes"], one["slower"], dash, color=colour, linewidth=width, label=mode)
    axes.set_xscale("log", base=2)
    sizes = sorted(times["bytes"].unique())[::2]
    axes.set_xticks(sizes, [size(number) for number in sizes])
    axes.set_ylim(0.9, 5)
    axes.set(xlabel="bytes of an Allreduce", ylabel="time, by that of the fastest")
    axes.set_title(f"Algorithms of an Allreduce, {RANKS} hosts of {FABRIC}, simulated", loc="left")
    axes.legend(frameon=False)
    figure.savefig("mpi_developer.png", dpi=110)


def size(number: int) -> str:
    """Format a size with its unit."""
    units = {"MiB": 1 << 20, "KiB": 1 << 10, "B": 1}
    unit = next(name for name, factor in units.items() if number >= factor)
    return f"{number // units[unit]} {unit}"


def main() -> None:
    """Measure, print the comparison and draw the figure."""
    times = weft.bench("allreduce", FABRIC, RANKS, sizes=SIZES, modes=[LIBRARY, *ALGORITHMS])
    times = times.with_columns(
        slower=pl.col("latency_us") / pl.col("latency_us").min().over("bytes")
    )
    print(f"Which algorithm of an Allreduce on {RANKS} hosts of {FABRIC}, one rank on each:")
    print(f"{'bytes':>8}  {'fastest':20} {'us':>8}  {LIBRARY + ', us':>16}")
    for _, rows in times.group_by("bytes", maintain_order=True):
        own = rows.filter(pl.col("mode").is_in(ALGORITHMS)).sort("latency_us").row(0, named=True)
        library = rows.filter(pl.col("mode") == LIBRARY).row(0, named=True)
        loses = library["latency_us"] / own["latency_us"]
        chosen = weft.collective_schedule(
            "allreduce", RANKS, rows["bytes"][0], element=4, selection=LIBRARY
        ).algorithm
        note = f", {loses:.2f} times as long" if loses > 1.02 else ""
        print(
            f"{size(rows['bytes'][0]):>8}  {own['mode']:20} {own['latency_us']:8.2f}"
            f"  {library['latency_us']:16.2f}  by {chosen}{note}"
        )
    draw(times)


if __name__ == "__main__":
    main()
