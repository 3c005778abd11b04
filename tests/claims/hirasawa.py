# SPDX-License-Identifier: LGPL-2.1-only
"""Claims of Hirasawa et al.: docs/forwarding.md and docs/papers/hirasawa.md."""

import re
from collections.abc import Iterable, Iterator

from studies import forwarding_report as report
from studies.study import read_table
from tests.claims import DOCS, Repeat, printed, stored

PAGE, PAPER = "forwarding.md", "papers/hirasawa.md"
PAGES = (PAGE, PAPER)
TABLES = DOCS / "forwarding"
EXPERIMENT = "make bench-forwarding"
TCAM = "weft cache rate --latency 4"
CACHE, HASHED = ("weft cache rate --latency 0.41", "weft cache rate --latency 2.16 --stages 3")
TORUS, DRAGONFLY = report.FIGURES
SCATTERED = "weft cache ways --scattered --ways 4 --destinations 256,512,1024,2048"


def shortest(output: str) -> list[str]:
    """Return the rates of the shortest frames in Gb/s."""
    return re.findall(r"^shortest.* (\d+)$", output, re.MULTILINE)


def line_rates(output: str) -> Iterator[str]:
    """Require the paper's line rates; yield nothing, as the cell only calls them the same."""
    assert shortest(output) == ["168", "1639", "933"]
    assert re.findall(r"^longest.* (\d+)$", output, re.MULTILINE)[0] == "3036"
    yield from ()


def small_jobs() -> Iterator[str]:
    """Yield the share of jobs of up to 32 processors of both archives."""
    for row in read_table(TABLES / "jobs.csv"):
        if row["processors"] == "32":
            yield f"{100 * float(row['share_of_jobs_up_to']):.2f}"
    yield "32"


def scattered(output: str) -> Iterator[str]:
    """Yield the conflicts by number of scattered destinations."""
    for count, shares in re.findall(r"^ *(\d+) +4 (.*)$", output, re.MULTILINE):
        conflicts = re.findall(r"([\d.]+)%", shares)[-1]
        yield f"{float(conflicts):.1f}"
        yield f"{int(count):,}"


def of_traces() -> Iterator[str]:
    """Yield the most conflicts of any program with four ways, of the smaller caches."""
    rows = read_table(TABLES / "trace.csv")
    assert len({row["program"] for row in rows}) == 10
    by_entries = {int(row["entries"]): 0.0 for row in rows}
    for row in rows:
        if row["ways"] == "4" or row["entries"] == "2048":
            entries = int(row["entries"])
            by_entries[entries] = max(by_entries[entries], 100 * float(row["conflict"]))
    assert by_entries.pop(2048) == 0
    yield from ("256", "2,048", "4")
    for entries, conflicts in by_entries.items():
        yield from (f"{conflicts:.1f}", str(entries))


def of_torus(name: str, ports: str, column: str) -> float:
    """Return a value of the largest torus."""
    rows = read_table(TABLES / "capacity.csv")
    (found,) = (row for row in rows if (row["k"], row["hash"], row["ports"]) == ("16", name, ports))
    return float(found[column])


def on_the_torus() -> Iterator[str]:
    """Yield hit rates without the hash."""
    yield from ("16", "4")
    for ports, digits in (("host", 1), ("dimension 0", 1), ("all", 0)):
        yield f"{100 * of_torus('crc', ports, 'hits'):.{digits}f}"


def throughput() -> Iterator[str]:
    """Yield rates at ports of hosts, and the times of lookups that the runs of tests give."""
    yield from ("16", "4")
    for name in ("crc", "cube"):
        yield f"{of_torus(name, 'host', 'Gb/s'):.0f}"
    yield from ("15", "4", "0.72")


def speed_ups(case: tuple[str, str], program: str, ranks: int = 256) -> Iterator[str]:
    """Yield the performance with the fastest links and the cache, on torus and Dragonfly."""
    rows = report.read_rows()
    for name, fabric in zip(case, (TORUS, DRAGONFLY), strict=True):
        found = report.results(rows, name, fabric, ranks)
        yield f"{found.relative(program, found.speeds[-1], 'cache'):.2f}"


def gains() -> Iterator[str]:
    """Yield the gain of the cache with the same links."""
    rows = report.read_rows()
    for fabric in (TORUS, DRAGONFLY):
        found = report.results(rows, "paper", fabric, 256)
        yield f"{100 * found.gain('average', found.speeds[-1]):.1f}"


WITH, WITHOUT = ("paper", "paper"), ("simgrid", "cables")


def programs() -> Iterator[str]:
    """Yield the averages and DT's factors of all variants."""
    yield from speed_ups(WITH, "average")
    yield "256"
    yield from speed_ups(WITH, "average", 64)
    yield "64"
    yield from speed_ups(WITH, "DT")
    yield from speed_ups(WITHOUT, "average")
    torus, dragonfly = (f"{float(found):.1f}" for found in speed_ups(WITHOUT, "DT"))
    assert torus == dragonfly
    yield from (torus, f"{100 * (60 / 51 - 1):.1f}", "16")


def without_computation() -> Iterator[str]:
    """Yield the averages with free computation, of 256 and 64 ranks."""
    yield from speed_ups(WITHOUT, "average")
    yield from speed_ups(WITHOUT, "average", 64)


def nothing(_: str = "") -> Iterable[str]:
    """Return nothing: the cell has no numbers; tests of forwarding caches show what it says."""
    return ()


REPEATS: tuple[Repeat, ...] = ()
CLAIMS = (
    printed(PAGE, "A TCAM of 4 ns accepts", TCAM, line_rates, (CACHE, HASHED)),
    stored(PAGE, "RICC runs 98 %", "weft cache jobs", small_jobs),
    printed(PAGE, "4 ways and 2K entries", SCATTERED, scattered),
    stored(PAGE, "NAS programs on", "make studies STUDIES=forwarding-caches", of_traces),
    stored(PAGE, "On large tori", "weft cache capacity", on_the_torus),
    stored(PAGE, "Misses limit", "weft cache capacity", throughput),
    printed(PAGE, "The hash needs no more", "weft cache hash --cube 16-ary-4-cube", nothing),
    stored(PAGE, "The hash keeps its entries", "weft run --faults", lambda: ()),
    stored(
        PAGE,
        "A cache port has 0.228",
        "weft cache rate",
        lambda: ("64", "0.228", f"{64 * 0.228:.1f}"),
    ),
    stored(PAGE, "Programs run 5.07 times", EXPERIMENT, programs),
    stored(PAGE, "Prefetching is impractical", "weft cache traffic --ahead", lambda: ()),
    printed(
        PAPER,
        "Line rate of shortest frames",
        TCAM,
        lambda output: [*shortest(output)],
        (HASHED,),
    ),
    stored(PAPER, "Speed-up by the cache", EXPERIMENT, lambda: speed_ups(WITH, "average")),
    stored(PAPER, "Speed-up with free computation", EXPERIMENT, without_computation),
    stored(PAPER, "Contribution of the cache", EXPERIMENT, gains),
)
