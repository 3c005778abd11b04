# SPDX-License-Identifier: LGPL-2.1-only
"""Savings from SMPI's sampling and shared memory: docs/cpu-and-memory.md.

Clauss et al., figures 18 (NAS EP: simulation and simulated time by sampling ratio) and 16 (NAS DT:
memory with and without sharing). Times are measured on this machine; `weft cc` compiles all
programs.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.real_programs.sources import nas, sampled_ep
from studies.study import (
    DOCS,
    IMAGES,
    OPTION,
    ROOT,
    Study,
    read_table,
    run_command,
    write_table,
)
from weft.base import paths
from weft.base.errors import WeftError
from weft.base.plots import bar_look, look
from weft.runs import launch
from weft.runs.record import Record
from weft.runs.request import Request

SAMPLING, MEMORY = DOCS / "cpu-sampling.csv", DOCS / "shared-memory.csv"
ALLOCATED = DOCS / "shared-allocations.csv"
RATIOS = (1.0, 0.75, 0.5, 0.25, 0.1)
EP_CLASS, EP_RANKS, EP_ROUNDS = "B", 4, 3
# Speed of the fabric's hosts for which simulated computation takes as long as on this machine.
HOST_SPEED = "76.8Gf"
CLASS_C = DOCS / "paper-001" / "class-c.csv"
"""Results for NAS DT, graph SH, class C, with shared memory."""
CLASS_C_RANKS = 448
LARGE_BLOCKS = "smpi/shared-malloc-blocksize:16777216"
"""Blocks of 16 MiB: with default blocks, the arrays need more mappings than Linux allows."""
DT = (
    *(("A", "WH", 21), ("A", "BH", 21), ("A", "SH", 80)),
    *(("B", "WH", 43), ("B", "BH", 43)),
    *(("C", "WH", 85), ("C", "BH", 85), ("C", "SH", CLASS_C_RANKS)),
)
# Class whose arrays exceed this machine's memory unless shared.
LARGE = "C"
# Blocks above this size, such as DT's arrays, are shared.
SHARING = "smpi/auto-shared-malloc-thresh:65536"
ALLOCATORS = (("cxx", "folded.cpp"), ("f90", "folded.f90"))
"""Compilations of a program that allocates 4 MiB arrays on 8 ranks."""
FUNCTIONS = (
    *("malloc", "calloc", "malloc+memset", "realloc", "reallocarray", "aligned_alloc"),
    *("posix_memalign", "memalign", "new", "new[]", "new-nothrow", "new-aligned", "vector"),
)
LEVELS = ("-O0", "-O1", "-O2", "-O3", "-O2 -flto")
ALLOCATING_RANKS = 8
_POLL_S = 0.02


@dataclass(frozen=True)
class Sampled:
    """NAS EP with a fraction of its iterations; best of the rounds."""

    ratio: float
    cpu_time_s: float
    simulated_time_s: float


@dataclass(frozen=True)
class Shared:
    """NAS DT with and without sharing; values without sharing are absent if memory is too small."""

    graph: str
    ranks: int
    memory_MiB: float | None  # noqa: N815 (the unit's name)
    shared_MiB: float  # noqa: N815
    simulated_time_s: float | None
    shared_simulated_time_s: float
    shared_cpu_time_s: float


def measure_sampled(ratio: float) -> Sampled:
    """Run EP several times, and keep the cheapest run."""
    records = [
        run(sampled_ep(ratio), EP_RANKS, (str(EP_RANKS), EP_CLASS), host_speed=HOST_SPEED)
        for _ in range(EP_ROUNDS)
    ]
    best = min(records, key=lambda record: record.cpu_time_s)
    return Sampled(ratio, best.cpu_time_s, best.simulated_time_s)


def measure_shared(size: str, graph: str, ranks: int) -> Shared:
    """Run DT with private memory, then with shared memory."""
    arguments = (str(ranks), size, graph)
    with watched_memory() as own:
        alone = None if size == LARGE else run(nas("dt"), ranks, arguments)
    blocks = (LARGE_BLOCKS,) if size == LARGE else ()
    with watched_memory() as common:
        shared = run(nas("dt"), ranks, arguments, config=(SHARING, *blocks))
    return Shared(
        f"{size} {graph}",
        ranks,
        own[0] / 2**20 if alone else None,
        common[0] / 2**20,
        alone.simulated_time_s if alone else None,
        shared.simulated_time_s,
        shared.cpu_time_s,
    )


def measure_allocations() -> list[dict[str, str]]:
    """Measure the memory of a rank's array in KiB, by function and optimisation level."""
    rows: dict[str, dict[str, str]] = {}
    with TemporaryDirectory() as folder:
        for level in LEVELS:
            for language, source in ALLOCATORS:
                program = Path(folder) / "program"
                compiler = [str(paths.installed("weft-compiler")), language, *level.split()]
                run_command([*compiler, str(ROOT / "tests/smpi" / source), "-o", str(program)])
                functions = FUNCTIONS if language == "cxx" else ()
                sizes = allocated(program, functions, config=(SHARING,))
                for name, size in sizes.items():
                    row = rows.setdefault(name, {"function": name})
                    row[level] = f"{max(0, size) / 1024:.0f}"
    return list(rows.values())


def allocated(program: Path, arguments: tuple[str, ...], **options: Any) -> dict[str, int]:
    """Return the bytes per rank that a program prints, by function."""
    request = Request.of(
        fabric="tofino-64x64",
        ranks=ALLOCATING_RANKS,
        program=str(program),
        arguments=arguments,
        offload="off",
        **options,
    )
    lines: list[str] = []
    launch.run(launch.prepare(request), lines.append)
    return {name: int(size) for name, size in (line.split() for line in lines)}


def run(program: Path, ranks: int, arguments: tuple[str, ...], **options: Any) -> Record:
    """Run a program and discard its output; DT's exit status reports its verification."""
    request = Request.of(
        fabric="tofino-64x64",
        ranks=ranks,
        program=str(program),
        arguments=arguments,
        offload="off",
        **options,
    )
    record = launch.run(launch.prepare(request), lambda _: None)
    if record.outcome.kind not in ("completed", "exit"):
        raise WeftError(f"{OPTION}: cpu-and-memory: {record.outcome.message}")
    print(program.name, *arguments, f"{record.wall_time_s:.2f} s", flush=True)
    return record


@contextmanager
def watched_memory() -> Iterator[list[int]]:
    """Yield the peak memory of a child in bytes, updated while the body runs.

    The measure is the proportional set size, which counts a page mapped a thousand times once. The
    peak RSS reported by the system counts the page a thousand times.
    """
    largest = [0]
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_POLL_S):
            largest[0] = max(largest[0], *map(proportional_size, children()), 0)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield largest
    finally:
        over.set()
        thread.join()


def children() -> list[str]:
    """Return the PIDs of this process's children.

    Until exec, a new child is a copy of this process, whose memory is not the simulator's.
    """
    tasks = Path("/proc/self/task").glob("*/children")
    pids = [pid for task in tasks for pid in task.read_text().split()]
    return [pid for pid in pids if not is_copy(pid)]


def is_copy(pid: str) -> bool:
    """Return true for a process that still executes the same file as this one, or has ended."""
    try:
        return Path(f"/proc/{pid}/exe").samefile("/proc/self/exe")
    except OSError:
        return True


def proportional_size(pid: str) -> int:
    """Return the proportional set size in bytes; 0 if the process has just ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def class_c(row: Shared) -> dict[str, str]:
    """Return the costs of DT's largest class C graph."""
    times = {"cpu_time_s": row.shared_cpu_time_s, "simulated_time_s": row.shared_simulated_time_s}
    return {"ranks": str(row.ranks), **{name: f"{time:.6g}" for name, time in times.items()}}


def write() -> None:
    """Measure, and write the tables."""
    write_table(ALLOCATED, measure_allocations())
    shared = [measure_shared(*case) for case in DT]
    write_table(CLASS_C, [class_c(shared[-1])])
    measured: dict[Path, Sequence[Any]] = {
        SAMPLING: [measure_sampled(ratio) for ratio in RATIOS],
        MEMORY: shared,
    }
    for target, rows in measured.items():
        write_table(target, [_cells(row) for row in rows])


def _cells(row: Any) -> dict[str, str]:
    return {
        name: f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)
        for name, value in asdict(row).items()
    }


def read_sampled() -> list[Sampled]:
    """Return the rows of EP in the table."""
    return [Sampled(*map(float, row.values())) for row in read_table(SAMPLING)]


def read_shared() -> list[Shared]:
    """Return the rows of DT in the table."""
    rows = [list(row.values()) for row in read_table(MEMORY)]
    return [
        Shared(
            graph,
            int(ranks),
            float(own) if own else None,
            float(shared),
            float(time) if time else None,
            *map(float, more),
        )
        for graph, ranks, own, shared, time, *more in rows
    ]


def sampling_table(rows: Sequence[Sampled]) -> str:
    """Return the rows of EP as a table."""
    lines = [
        "| sampling ratio | simulation (CPU time) | simulated time | difference |",
        "|---:|---:|---:|---:|",
    ]
    whole = rows[0].simulated_time_s
    for row in rows:
        lines.append(
            f"| {row.ratio:.0%} | {row.cpu_time_s:.2f} s"
            f" | {row.simulated_time_s:.3f} s | {row.simulated_time_s / whole - 1:+.1%} |"
        )
    return "\n".join(lines) + "\n"


def memory_table(rows: Sequence[Shared]) -> str:
    """Return the rows of DT as a table."""
    lines = [
        "| class, graph | ranks | memory | shared | simulated time | shared | CPU time, shared |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        memory = f"{row.memory_MiB:.0f} MiB" if row.memory_MiB else "too large"
        time = f"{row.simulated_time_s * 1e3:.2f} ms" if row.simulated_time_s else ""
        lines.append(
            f"| {row.graph} | {row.ranks} | {memory} | {row.shared_MiB:.0f} MiB | {time}"
            f" | {row.shared_simulated_time_s * 1e3:.2f} ms | {row.shared_cpu_time_s:.1f} s |"
        )
    return "\n".join(lines) + "\n"


def allocations_table(rows: Sequence[Mapping[str, str]]) -> str:
    """Return the memory of a rank's array as a table."""
    lines = [
        "| allocated by | " + " | ".join(f"`{level}`" for level in LEVELS) + " |",
        "|---|" + "---:|" * len(LEVELS),
    ]
    for row in rows:
        sizes = " | ".join(row[level] for level in LEVELS)
        lines.append(f"| `{row['function']}` | {sizes} |")
    return "\n".join(lines) + "\n"


def draw(sampled: Sequence[Sampled], shared: Sequence[Shared]) -> Figure:
    """Draw EP and DT side by side."""
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw_sampled(left, sampled)
    draw_shared(right, shared)
    return figure


def draw_sampled(axes: Axes, rows: Sequence[Sampled]) -> None:
    """Draw EP's simulation cost and simulated time."""
    ratios = [100 * row.ratio for row in rows]
    axes.plot(ratios, [row.cpu_time_s for row in rows], label="simulation (CPU time)", **look(0))
    axes.plot(ratios, [row.simulated_time_s for row in rows], label="simulated time", **look(1))
    axes.set(title=f"NAS EP, class {EP_CLASS}, {EP_RANKS} ranks", xlabel="sampling ratio, %")
    axes.set(ylabel="time, s", ylim=(0, None))
    axes.legend()


def draw_shared(axes: Axes, rows: Sequence[Shared]) -> None:
    """Draw DT's memory."""
    sizes = {
        "own memory": [row.memory_MiB or 0 for row in rows],
        "shared memory": [row.shared_MiB for row in rows],
    }
    for number, (label, heights) in enumerate(sizes.items()):
        places = [place + 0.4 * number for place in range(len(rows))]
        axes.bar(places, heights, 0.4, label=label, **bar_look(number))
    names = [f"{row.graph}\n{row.ranks} ranks" for row in rows]
    axes.set_xticks([place + 0.2 for place in range(len(rows))], names)
    axes.set(title="NAS DT", ylabel="largest memory, MiB")
    axes.legend()


STUDY = Study(
    name="cpu-and-memory",
    about="what sampled computation and shared memory save, measured on this machine",
    measure=write,
    figures=lambda: {IMAGES / "cpu-and-memory.png": draw(read_sampled(), read_shared())},
    page=DOCS / "cpu-and-memory.md",
    texts=lambda: {
        "table: sampling": sampling_table(read_sampled()),
        "table: memory": memory_table(read_shared()),
        "table: allocations": allocations_table(read_table(ALLOCATED)),
    },
)
