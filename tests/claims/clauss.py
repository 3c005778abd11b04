# SPDX-License-Identifier: LGPL-2.1-only
"""Claims of Clauss et al.: docs/paper-001.md and docs/papers/clauss.md."""

from collections.abc import Iterator

from studies import cpu_and_memory
from studies.paper_001 import collectives, dt, point_to_point, speed
from studies.paper_001.griffon import LINKS
from studies.study import read_table
from tests.claims import Repeat, stored
from weft.base.measured import log_error

PAGE, PAPER = "paper-001.md", "papers/clauss.md"
PAGES = (PAGE, PAPER)
STUDY, CPU = "make paper-001", "make bench-cpu"
MEASURED = ("p2p_azure_hc44rs_mpi", "p2p_alaska_ib", "p2p_taurus_ethernet")
LARGEST = (collectives.RANKS, collectives.CHUNK)


def percent(value: str | float, digits: int = 1) -> str:
    """Return a fraction in percent."""
    return f"{100 * float(value):.{digits}f}"


def fit(table: str, model: str) -> tuple[float, float]:
    """Return the mean and the worst error of a model that is fitted to a table."""
    (row,) = (
        row
        for row in read_table(point_to_point.FITS)
        if (row["table"], row["model"]) == (table, model)
    )
    return float(row["mean_error"]), float(row["worst_error"])


def piecewise() -> Iterator[str]:
    """Yield both errors of the piece-wise linear model by table."""
    for table in MEASURED:
        mean, worst = fit(table, "piecewise")
        yield percent(mean)
        yield percent(worst, 0 if worst > 1 else 1)


def affine(model: str) -> list[str]:
    """Return the least and the largest mean error of an affine model."""
    means = [fit(table, model)[0] for table in MEASURED]
    return [percent(min(means)), percent(max(means))]


def without_contention(collective: str) -> str:
    """Return the error of ignoring contention at 4 MiB, 16 processes."""
    return percent(collectives.error(collectives.read(), collective, *LARGEST))


def by_processes() -> list[str]:
    """Return the time of a Scatter of 2 and of 64 processes."""
    times = collectives.read()
    few, many = (max(times["scatter", "shared", ranks, collectives.CHUNK]) for ranks in (2, 64))
    return [f"{1e3 * few:.0f}", f"{many:.2f}", "2", "64"]


def graphs() -> list[str]:
    """Return the times of class B in seconds and of class A in milliseconds: BH, WH."""
    rows = dt.read()
    b, a = (
        [float(rows["griffon-computing", size, graph]["seconds"]) for graph in ("BH", "WH")]
        for size in ("B", "A")
    )
    return [*(f"{time:.2f}" for time in b), *(f"{1e3 * time:.0f}" for time in a)]


def savings() -> list[str]:
    """Return the least and the largest factor of memory, and that of class B's WH."""
    rows = cpu_and_memory.read_shared()
    factors = {row.graph: row.memory_MiB / row.shared_MiB for row in rows if row.memory_MiB}
    most = max(factors.values())
    assert factors["B BH"] == most
    return [f"{min(factors.values()):.1f}", f"{most:.0f}", f"{factors['B WH']:.0f}"]


def class_c() -> list[str]:
    """Return the CPU time and the simulated time of DT, class C."""
    (row,) = read_table(cpu_and_memory.CLASS_C)
    return [f"{float(row['cpu_time_s']):.0f}", f"{float(row['simulated_time_s']):.2f}"]


def faster() -> list[str]:
    """Return how much faster than simulated time a Scatter is simulated: at 4 MiB, at most."""
    factors = {
        int(row["bytes"]): float(row["simulated_time_s"]) / float(row["cpu_time_s"])
        for row in read_table(speed.COSTS)
    }
    return [f"{factors[4 * 2**20]:.2f}", "4", f"{max(factors.values()):.2f}"]


def quarter() -> str:
    """Return the cost of a quarter of the iterations."""
    rows = {row.ratio: row for row in cpu_and_memory.read_sampled()}
    return percent(rows[0.25].cpu_time_s / rows[1.0].cpu_time_s)


def drift() -> str:
    """Return the largest deviation of the simulated time."""
    whole, *rows = cpu_and_memory.read_sampled()
    return percent(max(abs(row.simulated_time_s / whole.simulated_time_s - 1) for row in rows))


def on_gdx() -> Iterator[str]:
    """Yield the errors of both affine models on gdx, mean and worst, by switches."""
    times = point_to_point.read()
    for route in ("gdx-one", "gdx-three"):
        for model in ("default", "best"):
            error = log_error(times[route, model], times[route, "piecewise"])
            yield from (percent(error.mean), percent(error.worst))


def scatter_by_size() -> list[str]:
    """Return the errors of ignoring contention in a Scatter, one send after the other."""
    times = collectives.read()
    errors = {
        size: collectives.error(times, "scatter", collectives.RANKS, size)
        for size in collectives.SIZES
        if size >= 256
    }
    small = [error for size, error in errors.items() if size <= 4096]
    large = max(error for size, error in errors.items() if size > 16384)
    at_16_kib = percent(errors[16384])
    return [percent(min(small)), percent(max(small)), "4", at_16_kib, "16", percent(large)]


def alltoall_by_size() -> list[str]:
    """Return the error of ignoring contention in the smallest and the largest Alltoall shown."""
    times = collectives.read()
    small, large = (
        percent(collectives.error(times, "alltoall", collectives.RANKS, size))
        for size in (256, collectives.SIZES[-1])
    )
    return [small, "256", large, "16"]


def same_at_all_ranks() -> list[str]:
    """Return the error at 4 MiB, if it is the same at all ranks."""
    times = collectives.read()
    shared, free = (times["alltoall", links, *LARGEST] for links in LINKS)
    ratios = [one / other for one, other in zip(shared, free, strict=True)]
    assert max(ratios) / min(ratios) < 1.001
    return [without_contention("alltoall")]


REPEATS = (
    Repeat(
        point_to_point.FITS,
        "p2p_azure_hc44rs_mpi",
        lambda: point_to_point.fit("p2p_azure_hc44rs_mpi"),
    ),
)
CLAIMS = (
    stored(PAGE, "Figure 3:", STUDY, lambda: [*piecewise(), *affine("default"), *affine("best")]),
    stored(PAGE, "Figures 4, 5:", STUDY, on_gdx),
    stored(PAGE, "Figure 7:", STUDY, lambda: [without_contention("iscatter")]),
    stored(PAGE, "Figure 8:", STUDY, scatter_by_size),
    stored(PAGE, "Figure 9:", STUDY, by_processes),
    stored(PAGE, "Figure 11:", STUDY, same_at_all_ranks),
    stored(PAGE, "Figure 12:", STUDY, alltoall_by_size),
    stored(PAGE, "Figure 15:", STUDY, graphs),
    stored(PAGE, "Figure 16:", CPU, savings),
    stored(PAGE, "DT of class C", CPU, class_c),
    stored(PAGE, "Figure 17:", STUDY, faster),
    stored(PAGE, "Figure 18, class B:", CPU, lambda: [quarter(), drift()]),
    stored(PAPER, "Error of the piece-wise", STUDY, piecewise),
    stored(PAPER, "Mean error of the best", STUDY, lambda: affine("best")),
    stored(PAPER, "Alltoall of 4 MiB", STUDY, lambda: [without_contention("alltoall")]),
    stored(PAPER, "Cost of simulating", CPU, lambda: [quarter()]),
)
