# SPDX-License-Identifier: LGPL-2.1-only
"""Multicasts compared with the paper of Khalilov et al. (SC '24): a file per figure, one page.

`python -m studies multicast` runs all of them. Times are simulated and the same on every machine.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from matplotlib.figure import Figure

from studies.resume import kept_rows
from studies.study import DOCS, IMAGES, Study, Table, read_table, write_table
from weft.base import paths
from weft.base.process import work_directory
from weft.fabric.toml_file import with_values
from weft.runs.record_data import MulticastPart
from weft.runs.toolchain import compile_c
from weft.study.bench import collectives as bench
from weft.study.bench.collectives import COLLECTIVES, CollectivesBench
from weft.study.bench.modes import check_as_asked

PAGE = DOCS / "multicast.md"
TESTBED, TESTBED_HOSTS = "fdr-188", 188
FULL_BANDWIDTH = "fat-tree-1024-radix-32"
MULTICAST = "multicast"
MANY: dict[str, Any] = {"unchecked": True}
"""Ranks share buffers, so that thousands of ranks fit into memory."""
_COLUMNS = (
    *("collective", "mode", "ranks", "ppn", "bytes"),
    *("latency_us", "max_us", "receive_Bps", "port_bytes"),
)

Draw = Callable[[Table, Figure], None]


def make_study(
    name: str,
    about: str,
    measure: Callable[[], Table],
    draw: Draw,
    table: Callable[[Table], Iterable[str]],
    width: float = 8.0,
) -> Study:
    """Return a study with one table, one figure and one section of the page."""
    file = DOCS / "multicast" / f"{name}.csv"

    def figures() -> dict[Any, Figure]:
        figure = Figure(figsize=(width, 4.6), layout="constrained")
        draw(read_table(file), figure)
        return {IMAGES / f"multicast-{name}.png": figure}

    return Study(
        name=f"multicast-{name}",
        about=about,
        measure=lambda: write_table(file, measure()),
        figures=figures,
        page=PAGE,
        texts=lambda: {f"table: {name}": "\n".join(table(read_table(file))) + "\n"},
    )


def run(
    collective: str,
    fabric: str,
    ranks: int,
    sizes: Sequence[int],
    modes: Sequence[str],
    **options: Any,
) -> Table:
    """Run a benchmark, one mode and size at a time, and store completed runs."""
    return kept_rows(
        "multicast",
        [
            (
                "-".join(map(str, (collective, fabric, ranks, size, mode, *_words(options)))),
                partial(run_one, collective, fabric, ranks, size, mode, **options),
            )
            for mode in modes
            for size in sizes
        ],
    )


def _words(options: dict[str, Any]) -> list[str]:
    return [f"{name}={value}" for name, value in options.items()]


def run_one(
    collective: str, fabric: str, ranks: int, size: int, mode: str, **options: Any
) -> Table:
    """Run a single mode and size."""
    study = bench.CollectivesBench(
        COLLECTIVES[collective], fabric, ranks, (size,), (mode,), **options
    )
    rows = bench.run(study, lambda *_: None)
    check_as_asked(rows, "multicast")  # the tables' labels are fixed
    return [{name: _cell(getattr(row, name)) for name in _COLUMNS} for row in rows]


@contextmanager
def changed_fabric(
    name: str, table: str, values: Mapping[str, Any], more: str = ""
) -> Iterator[str]:
    """Yield the file of a shipped fabric with changes to one table, and additional tables."""
    text = paths.installed("fabrics", f"{name}.toml").read_text(encoding="utf-8")
    with work_directory() as work:
        file = work / f"{name}.toml"
        file.write_text(with_values(text, table, values) + more, encoding="utf-8")
        yield str(file)


def run_recorded(
    collective: str, fabric: str, ranks: int, size: int
) -> tuple[bench.CollectiveTime, MulticastPart]:
    """Run one size with the multicast protocol; return times and the record's multicast part."""
    study = CollectivesBench(COLLECTIVES[collective], fabric, ranks, (size,), [MULTICAST], **MANY)
    with work_directory() as work:
        program = work / "collective_times"
        compile_c(paths.example("collective_times.c"), program)
        row, record = bench.measure(study, program, MULTICAST, size)
    (part,) = record.multicast
    return row, part


def _cell(value: object) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def column(rows: Table, collective: str, mode: str, name: str) -> dict[int, float]:
    """Return a column by size."""
    return {
        int(row["bytes"]): float(row[name])
        for row in rows
        if (row["collective"], row["mode"]) == (collective, mode)
    }
