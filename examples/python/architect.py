# SPDX-License-Identifier: LGPL-2.1-only
"""An architect's question: which switches of a cluster should be smart.

Thirty-two hosts on a fat tree: four leaf switches with eight hosts each, and two switches above
them. A smart switch costs more than a plain one. Which ones pay off: none, the leaves, the two
above, or all six? The program is an MPI_Allreduce over all hosts, with small and large messages.

    python architect.py

Prints the answer, draws architect.png, and stores the runs in architect.runs. Smart switches are
Tofinos as measured by Belbeisi et al. (CF '26), plain ones weft's preset l2; hosts, NICs and cables
are those of the same testbed. No fat tree of these switches has been measured.
"""

import tempfile
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import polars as pl

import weft

PLAIN = {"none": "*", "the leaves": "level2-*", "those above": "level1-*", "all": ""}
SMART = {"none": 0, "the leaves": 4, "those above": 2, "all": 6}
SIZES = ["256B", "4KiB", "64KiB", "1MiB"]


def fabrics(folder: Path) -> dict[str, Path]:
    """Write a fabric file for each choice of smart switches."""
    with warnings.catch_warnings():  # it repeats the docstring's last sentence
        warnings.simplefilter("ignore")
        whole = weft.new_fabric(
            "fat_tree", folder / "all.toml", down=[8, 4], up=[1, 2], switch_preset="tofino"
        )
    text = whole.file.read_text()
    files = {}
    for number, (which, plain) in enumerate(PLAIN.items()):
        files[which] = folder / f"choice-{number}.toml"
        exception = f'\n[[switches]]\nmatch = "{plain}"\npreset = "l2"\n' if plain else ""
        files[which].write_text(text + exception)
    return files


def latencies() -> pl.DataFrame:
    """Run the campaign; return the mean time of an Allreduce by choice and size."""
    with tempfile.TemporaryDirectory() as folder:
        names = {str(file): which for which, file in fabrics(Path(folder)).items()}
        program = weft.Program(
            source=weft.paths.example("allreduce_latency.c"),
            arguments=["{bytes:B}", 5],
            privatize=False,
        )
        campaign = weft.Campaign(
            "architect",
            programs={"allreduce": program},
            axes={"fabric": list(names), "ranks": 32, "bytes": SIZES},
        )
        calls = campaign.run().collectives().filter(pl.col("collective") == "allreduce")
    return calls.select(
        pl.col("fabric").replace_strict(names).alias("smart"),
        "bytes",
        pl.col("path").replace("fallback", "hosts"),
        time_us=pl.col("mean_time_s") * 1e6,
    )


def draw(table: pl.DataFrame) -> None:
    """Draw the speedup over plain switches as a group of bars per size."""
    figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
    colours, hatches = ("#0072B2", "#D55E00", "#009E73"), ("", "///", "...")
    choices = [which for which in PLAIN if which != "none"]
    for k, which in enumerate(choices):
        bars = table.filter(pl.col("smart") == which)
        places = [place + 0.27 * (k - 1) for place in range(len(SIZES))]
        label = f"{which} ({SMART[which]} smart switches)"
        axes.bar(places, bars["speed_up"], 0.25, label=label, color=colours[k], hatch=hatches[k])
    axes.axhline(1, color="#222222", linewidth=1)
    axes.set_xticks(range(len(SIZES)), SIZES)
    axes.set(xlabel="bytes of an Allreduce over 32 hosts", ylabel="times as fast as on the hosts")
    axes.set_title("Which switches are smart, simulated", loc="left")
    axes.legend(frameon=False)
    figure.savefig("architect.png", dpi=110)


def main() -> None:
    """Run the campaign, print the answer and draw the figure."""
    table = latencies()
    plain = table.filter(pl.col("smart") == "none").select("bytes", plain_us="time_us")
    table = table.join(plain, on="bytes", maintain_order="left").with_columns(
        speed_up=pl.col("plain_us") / pl.col("time_us")
    )
    print("Mean time of an Allreduce over 32 hosts in us, and who did it, by the smart switches:")
    for which in PLAIN:
        rows = table.filter(pl.col("smart") == which).iter_rows(named=True)
        cells = "  ".join(
            f"{one['bytes']:>6} {one['time_us']:7.2f} {one['path']:6}" for one in rows
        )
        print(f"  {which:12}{cells}".rstrip())
    print("The fewest smart switches with 90 % of what smart switches gain at most:")
    for size in SIZES:
        rows_of_size = table.filter(pl.col("bytes") == size)
        gain = dict(rows_of_size.select("smart", "speed_up").iter_rows())
        enough = next(
            which
            for which in sorted(SMART, key=lambda one: SMART[one])
            if gain[which] - 1 >= 0.9 * (max(gain.values()) - 1)
        )
        print(
            f"  {size:>6}: {enough} ({SMART[enough]} of 6), {gain[enough]:.2f} times as fast as"
            " plain ones"
        )
    draw(table)


if __name__ == "__main__":
    main()
