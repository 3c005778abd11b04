# SPDX-License-Identifier: LGPL-2.1-only
"""Effects of a packet forwarding cache on programs: docs/forwarding-experiment.md.

Hirasawa et al., section V.C: ten programs on a torus and a Dragonfly of 256 switches, with links
from 100 Gb/s to 1.6 Tb/s, and 10 ns (TCAM) or 1 ns (cache) of routing computation per switch. The
paper does not state the number of ranks; the study uses 64 and 256.

Each program runs once, checks its data and records a trace; the study then replays the trace on
each fabric variant. It does not repeat completed replays (`studies.resume`).
"""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from studies import forwarding_report as report
from studies.forwarding_report import BASELINE_GBPS, FORWARDING, RANKS, Row, Traffic
from studies.real_programs import sources
from studies.resume import Job, carry_out, digest, weft_digest
from studies.study import DOCS, IMAGES, OPTION, ROOT, Study
from weft import _core
from weft.base.errors import WeftError
from weft.fabric.toml_file import Value, with_values, without_tables
from weft.runs import launch
from weft.runs.record import read_record, write_record
from weft.runs.replay import replay_request
from weft.runs.toolchain import compile_c
from weft.trace.folder import Folder, read_folder

RESULTS = ROOT / "build" / "forwarding"
WEFT = (sys.executable, "-m", "weft.cli.main")
FABRICS = ("torus-4x4x4x4", "dragonfly-16x16")
SPEEDS_GBPS = (BASELINE_GBPS, 200, 400, 800, 1600)
ENDS_GBPS = (SPEEDS_GBPS[0], SPEEDS_GBPS[-1])
AT_ONCE = 2
_FROM_HOST = re.compile(r"host-[0-9]+\.up")
_BYTES_A_MESSAGE = 8
"""Size of an entry in the file that lists the hosts of each message: two 32-bit numbers."""

# Speed for computation, which is timed during recording, in operations per second: the speed of a
# core of the machine that wrote the document (`weft calibrate cpu`).
HOST_SPEED = "10Gf"

# Algorithms of the published tables: SMPI's selector, except for recursive doubling.
_FALLBACK = "smpi:ompi,allreduce=smpi:rdb"
# The clock is free, because traces do not contain the time for reading it.
_RECORDING = (
    *("--host-speed", HOST_SPEED, "--cfg", "smpi/wtime:0"),
    *("--offload", "off", "--fallback", _FALLBACK),
)

# Hirasawa et al., table 1: routing computation takes 10 ns, or 1 ns on a cache hit; a miss takes
# both.
_FORWARDING: Mapping[str, Mapping[str, Value]] = {
    "tcam": {"kind": "tcam", "tcam_latency": "10ns"},
    "cache": {"kind": "cache", "tcam_latency": "10ns", "hit_latency": "1ns"},
}
# Interval between lookups: 4 ns in a TCAM (section I), 0.72 ns in a cache with a three-stage hash
# (section V.B); a minimum-size frame with its gap is 84 B.
_INTERVALS = {"tcam": "4ns", "cache": "0.72ns"}
_SHORTEST_FRAME = "84B"
# Hosts of the paper: "100 GFlops" per core (table 1). MPI libraries, reductions and copies, which
# the paper does not mention, are free in SimGrid. Cores and loopback as in
# presets/host/xeon-8360.toml.
_HOST: Mapping[str, Value] = {
    "speed": "100Gf",
    "cores": 72,
    "loopback_bandwidth": "10GBps",
    "loopback_latency": "0.35us",
}
_NOT_THE_PAPERS = ("host", "mpi", "point_to_point")
# SimGrid's latency and bandwidth factors by MPI message size (option network/model: SMPI,
# smpi_config.cpp; fitted to a cluster with Gigabit Ethernet); each applies above the named size.
_SIMGRID_FACTORS = (
    (0, 2.01467, 0.812084),
    (257, 1.95341, 0.338112),
    (732, 1.9503, 0.341987),
    (1426, 1.61075, 0.608902),
    (3484, 1.88101, 0.77493),
    (5776, 2.18796, 1.08739),
    (9376, 2.59299, 0.58729),
    (15424, 3.48845, 0.697866),
    (65472, 11.6436, 0.940694),
)


@dataclass(frozen=True)
class Program:
    """Program, and the output that confirms correct data."""

    name: str
    compiled: Callable[[], Path]
    ranks: int
    arguments: tuple[str, ...]
    says: str
    status: int = 0
    algorithms: tuple[str, ...] = ()
    """SimGrid settings."""

    @property
    def settings(self) -> list[str]:
        """Settings as command-line options."""
        return [word for setting in self.algorithms for word in ("--cfg", setting)]


@dataclass(frozen=True)
class Case:
    """Variant of the experiment: fabric changes and link speeds."""

    meaning: str
    speeds: tuple[int, ...] = ENDS_GBPS
    ranks: tuple[int, ...] = RANKS
    computing: bool = False
    latencies: bool = True
    """True if cables have latencies."""
    fabrics: tuple[str, ...] = FABRICS
    topology: Mapping[str, Value] = field(default_factory=dict)
    """Changed topology keys."""
    extra: str = ""
    """Additional tables of the fabric file."""
    looked_up: bool = False
    """True if frames have the minimum size and lookups limit their rate."""


@dataclass(frozen=True)
class Variant:
    """Fabric for replays."""

    case: str
    fabric: str
    bandwidth_Gbps: int  # noqa: N815 (the unit's name)
    forwarding: str

    @property
    def name(self) -> str:
        """Name of the variant in file names."""
        return f"{self.case}-{self.fabric}-{self.bandwidth_Gbps}Gbps-{self.forwarding}"


def example(name: str) -> Callable[[], Path]:
    """Return a function that compiles a program of examples/."""

    def compiled() -> Path:
        target = sources.BUILD / f"example-{name}"
        target.parent.mkdir(parents=True, exist_ok=True)
        compile_c(ROOT / "examples" / f"{name}.c", target)
        return target

    return compiled


def nas(name: str) -> Callable[[], Path]:
    """Return a function that compiles a NAS program."""
    return lambda: sources.nas(name)


def programs(ranks: int) -> tuple[Program, ...]:
    """Return the paper's ten programs, in its problem classes, for this number of ranks."""
    grid = (
        Program(name, example("npb"), ranks, (name.lower(),), f"of {ranks} ranks: right")
        for name in ("BT", "LU", "MG", "SP")
    )
    return (
        # Class B. DT only prints its result; its source contains the expected value (verify).
        Program("DT", nas("dt"), 43, ("43", "B", "WH"), "L2 Norm = 7877279917.000000", status=1),
        # Class B, one of 75 solves: 75,000 unknowns, rounded up to the rank grid.
        Program("CG", example("cg"), ranks, ("75008", "1"), ": right"),
        # Class B, one iteration.
        *grid,
        # Class A, 2 of 6 iterations. Pairwise: Open MPI's algorithm, with 65,280 simultaneous
        # messages, would cost the solver ten times as much.
        Program(
            *("FT", example("ft"), ranks, ("128", "256", "256", "2"), ": right"),
            algorithms=("smpi/alltoall:pair",),
        ),
        Program("IS", nas("is"), ranks, (f"{ranks}", "A"), "Verification    =               SUCC"),
        # The program has no check.
        Program("MM", sources.gemm, ranks, ("512", "native"), "Performance="),
        # Graph500.
        Program("BFS", example("bfs"), ranks, ("16", "1"), ": right"),
    )


_FACTORS = "".join(
    f'\n[[point_to_point]]\nfrom = "{size}B"\nlatency_factor = {latency}\n'
    f"bandwidth_factor = {bandwidth}\n"
    for size, latency, bandwidth in _SIMGRID_FACTORS
)
CASES = {
    "paper": Case("paper's table 1", SPEEDS_GBPS, computing=True),
    "simgrid": Case(
        "SimGrid's defaults",
        latencies=False,
        extra=_FACTORS,
    ),
    "cables": Case(
        "SimGrid's defaults, 16 cables",
        latencies=False,
        extra=_FACTORS,
        fabrics=("dragonfly-16x16",),
        topology={"global_cables": 16},
    ),
    "lookups": Case("shortest frames", ranks=(256,), looked_up=True),
}


BASELINE = Variant("paper", FABRICS[0], BASELINE_GBPS, "tcam")
"""Fabric on which messages are counted."""


# ---- Fabrics -------------------------------------------------------------------------------------


def fabric_text(variant: Variant) -> str:
    """Return the shipped fabric with this variant's values."""
    case = CASES[variant.case]
    text = Path(_core.load_fabric(variant.fabric).file).read_text(encoding="utf-8")
    text = without_tables(text, _NOT_THE_PAPERS)
    text = with_values(text, "host", _HOST)
    text = with_values(text, "fabric", {"name": variant.name})
    text = with_values(text, "switch.forwarding", _forwarding(variant))
    text = with_values(text, "link", {"bandwidth": f"{variant.bandwidth_Gbps}Gbps"})
    text = with_values(text, "topology", case.topology)
    if not case.latencies:
        for table in ("link", "links"):
            text = with_values(text, table, {"latency": "0ns"})
    if not case.computing:
        text = with_values(text, "host", {"speed": "1000000Tf"})
    return text + case.extra


def _forwarding(variant: Variant) -> Mapping[str, Value]:
    if not CASES[variant.case].looked_up:
        return _FORWARDING[variant.forwarding]
    interval = _INTERVALS[variant.forwarding]
    misses = {} if variant.forwarding == "tcam" else {"tcam_interval": _INTERVALS["tcam"]}
    frames = {"interval": interval, "frame": _SHORTEST_FRAME}
    return {**_FORWARDING[variant.forwarding], **frames, **misses}


def variants(case: str) -> Iterator[Variant]:
    """Yield the fabrics of a case; cases beyond the paper's contain only the compared fabrics."""
    for fabric in CASES[case].fabrics:
        for speed in CASES[case].speeds:
            for forwarding in FORWARDING:
                if case == "paper" or (speed, forwarding) != (BASELINE_GBPS, "cache"):
                    yield Variant(case, fabric, speed, forwarding)


# ---- Runs and their stored results ---------------------------------------------------------------


def record_trace(program: Program, results: Path) -> Path:
    """Return the program's trace; record it and check the program's data if necessary."""
    compiled = program.compiled()
    words = (str(program.ranks), *program.arguments, *program.algorithms, *_RECORDING)
    folder = results / "traces"
    trace = folder / f"{program.name}-{digest(compiled.read_bytes(), *words)}"
    if trace.is_dir():
        return trace
    print(f"recording {program.name}, {program.ranks} ranks", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    options = ("--fabric", FABRICS[0], "-n", str(program.ranks), "--record", str(trace))
    command = [*WEFT, "run", "--quiet", *options, *_RECORDING, *program.settings]
    ran = subprocess.run(
        [*command, "--", str(compiled), *program.arguments],
        text=True,
        capture_output=True,
        check=False,
    )
    output = ran.stdout + ran.stderr
    if ran.returncode != program.status or program.says not in output or not trace.is_dir():
        raise WeftError(f"{OPTION}: {program.name} ended with status {ran.returncode}:\n{output}")
    return trace


@cache
def _folder(trace: Path) -> Folder:
    """Check a trace once, instead of before each replay."""
    return read_folder(trace)


@dataclass(frozen=True)
class Run:
    """Replay of a trace on a fabric."""

    program: Program
    trace: Path
    variant: Variant
    text: str
    """Text of the fabric file."""
    record: Path

    def carry_out(self) -> None:
        """Replay the trace, and store the record."""
        fabric = self.record.with_suffix(".toml")
        fabric.write_text(self.text, encoding="utf-8")
        request = replay_request(
            _folder(self.trace),
            fabric=str(fabric),
            offload="off",
            fallback=_FALLBACK,
            config=self.program.algorithms,
            messages=self._messages if self.variant == BASELINE else None,
        )
        # Replays print nothing, but capturing the output protects the child from Ctrl-C.
        record = launch.run(launch.prepare(request), lambda _line: None)
        if record.failed:
            raise WeftError(f"{OPTION}: {self.record.stem}: {record.outcome.message}")
        write_record(record, self.record)

    @property
    def _messages(self) -> Path:
        """File that lists the hosts of each message."""
        return self.record.with_suffix(".messages")

    def traffic(self) -> Traffic:
        """Count the messages between hosts, and their bytes, in a run on the baseline."""
        record = read_record(self.record)
        sent = sum(link.bytes for link in record.links if _FROM_HOST.fullmatch(link.name))
        count = self._messages.stat().st_size // _BYTES_A_MESSAGE
        return Traffic(self.program.name, record.ranks, count, round(sent))

    def row(self) -> Row:
        """Return the row for the table."""
        record = read_record(self.record)
        return Row(
            case=self.variant.case,
            fabric=self.variant.fabric,
            program=self.program.name,
            ranks=record.ranks,
            bandwidth_Gbps=self.variant.bandwidth_Gbps,
            forwarding=self.variant.forwarding,
            seconds=record.simulated_time_s,
            hits=sum(switch.cache_hits or 0 for switch in record.switches),
            misses=sum(switch.cache_misses or 0 for switch in record.switches),
        )


def runs(programs: Sequence[Program], wanted: Sequence[Variant], results: Path) -> list[Run]:
    """Return the runs to be executed, after recording missing traces."""
    folder = results / "records"
    folder.mkdir(parents=True, exist_ok=True)
    traces = [record_trace(program, results) for program in programs]
    found = []
    for variant in wanted:
        text = fabric_text(variant)
        for program, trace in zip(programs, traces, strict=True):
            name = f"{program.name}-{variant.name}-{digest(weft_digest(), text, trace.name)}"
            found.append(Run(program, trace, variant, text, folder / f"{name}.json"))
    return found


def sweep(wanted: Sequence[Run]) -> list[Row]:
    """Execute missing runs, and return all rows."""
    carry_out([Job(run.record, run.carry_out) for run in wanted], AT_ONCE)
    return [run.row() for run in wanted]


def all_runs(results: Path) -> list[Run]:
    """Return all runs; DT, whose number of ranks is fixed, is run once."""
    found: dict[Path, Run] = {}
    for name, case in CASES.items():
        for ranks in case.ranks:
            for run in runs(programs(ranks), list(variants(name)), results):
                found.setdefault(run.record, run)
    return list(found.values())


def measure() -> None:
    """Execute all runs, and write the tables."""
    wanted = all_runs(RESULTS)
    rows = sweep(wanted)
    report.write_csv(rows, report.TABLE)
    counted = [run.traffic() for run in wanted if run.variant == BASELINE]
    report.write_csv(counted, report.TRAFFIC_TABLE)
    print(report.summary(rows), end="")


STUDY = Study(
    name="forwarding",
    about="what a packet forwarding cache does to programs",
    measure=measure,
    figures=lambda: {
        IMAGES / picture: report.draw(report.read_rows(), fabric, title)
        for fabric, (picture, title) in report.FIGURES.items()
    },
    page=DOCS / "forwarding-experiment.md",
    texts=lambda: report.document_parts(
        report.read_rows(),
        report.read_traffic(),
        {name: case.meaning for name, case in CASES.items()},
    ),
)
