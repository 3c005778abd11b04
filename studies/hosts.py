# SPDX-License-Identifier: LGPL-2.1-only
"""Transferable host values: a set fitted to several clusters, and its predictions.

Processors differ in documented properties: caches, memory channels, sockets. All clusters share the
remaining values: the rates of a single core, the costs of a message, and the fractions of caches
and memory bandwidth available to collectives. The study fits them jointly, with equal weight for
each cluster. Leave-one-out cross-validation shows how they transfer: for each cluster, the values
are fitted to all other clusters and predict the left-out one.
"""

import json
import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from studies.study import DOCS, ROOT, Study, Table, markdown, read_table, write_table
from weft import _core
from weft.base.output import whole_file
from weft.benchmarks.bytes_of import elements_of

_ERRORS = DOCS / "host-transfer.csv"
_VALUES = DOCS / "host-values.csv"
_DATA = ROOT / "data"
_LEFT_OUT = _DATA / "hosts_left_out.csv"
_OPTION = "studies"

_STEP = 0.15
"""Step of finite differences in ln, as in `weft calibrate host`."""
_WRONG = 0.15
_HELD = 0.1
_EVALUATIONS = 8
"""Evaluations per fit, each with its derivatives."""
_MOST_RANKS = 64
"""Larger calls are predicted but not fitted to, since they would dominate the run time."""


@dataclass(frozen=True)
class Processor:
    """Documented properties of a processor; a host contains two."""

    name: str
    cores: int
    core_cache: float
    """Second-level cache of a core in bytes."""
    shared_cache: float
    """Last-level cache in bytes."""
    memory: float
    """Peak memory bandwidth in bytes per second: channels x transfers x 8 B."""
    stores: float
    """Stores per core and cycle: 2 since Ice Lake (Intel's optimisation manual).

    The rates of a core are assumed to be proportional to this number. A fit of the factor yields
    1.7 with all clusters, but 0.9 without ABCI A and 1.3 without ABCI V, since no other cluster
    determines it.
    """
    flops: str
    source: str
    guessed: tuple[str, ...] = ()
    """Keys of a preset that are based on assumptions about the processor."""
    units: str = "AVX-512 FMA units x 8 doubles"
    maker: str = "Intel"
    inclusive: bool = False
    """True if the last-level cache includes the contents of the core caches (before Skylake)."""

    @property
    def caches(self) -> float:
        """Total bytes in the caches of a socket."""
        return self.shared_cache + (0 if self.inclusive else self.cores * self.core_cache)


_MIB = float(1 << 20)
GOLD_6148 = Processor(
    *("xeon-6148", 20, _MIB, 27.5 * _MIB, 6 * 2666e6 * 8, 1, "76.8Gf"),
    "Two Intel Xeon Gold 6148 (Skylake): 20 cores, 27.5 MiB, 6 x DDR4-2666 each; 2.4 GHz",
)
PLATINUM_8276 = Processor(
    *("xeon-8276", 28, _MIB, 38.5 * _MIB, 6 * 2933e6 * 8, 1, "70.4Gf"),
    "Two Intel Xeon Platinum 8276 (Cascade Lake): 28 cores, 38.5 MiB, 6 x DDR4-2933 each; 2.2 GHz",
)
PLATINUM_8360Y = Processor(
    *("xeon-8360y", 36, 1.25 * _MIB, 54 * _MIB, 8 * 3200e6 * 8, 2, "76.8Gf"),
    "Two Intel Xeon Platinum 8360Y (Ice Lake): 36 cores, 54 MiB, 8 x DDR4-3200 each; 2.4 GHz",
)
# Processors of clusters that are predicted but not fitted to (data/checks.toml).
GOLD_6354 = Processor(
    *("xeon-6354", 18, 1.25 * _MIB, 39 * _MIB, 8 * 3200e6 * 8, 2, "96Gf"),
    "Two Intel Xeon Gold 6354 (Ice Lake): 18 cores, 39 MiB, 8 x DDR4-3200 each; 3.0 GHz",
)
EPYC_7V73X = Processor(
    *("epyc-7v73x", 48, _MIB / 2, 768 * _MIB, 8 * 3200e6 * 8, 2, "35.2Gf"),
    "Two AMD EPYC 7V73X (Milan-X) with 48 of 64 cores in use: 8 x 96 MiB, 8 x DDR4-3200 each;"
    " 2.2 GHz",
    (
        *("message_overhead", "copy_rate", "loopback_bandwidth", "reduction_rate"),
        *("shared_cache_rate", "core_memory_rate", "memory_bandwidth", "core_cache_size"),
        *("cache_size", "shared_cache_bandwidth"),
    ),
    units="AVX2 FMA units x 4 doubles",
    maker="AMD",
)
# Unmeasured processors of the last three generations: caches, memory and clock from the makers,
# core rates from the fit.
_SINCE = (
    *("message_overhead", "copy_rate", "loopback_bandwidth", "reduction_rate"),
    *("shared_cache_rate", "core_memory_rate", "memory_bandwidth", "core_cache_size"),
    *("cache_size", "shared_cache_bandwidth"),
)
XEON_8480 = Processor(
    *("xeon-8480", 56, 2 * _MIB, 105 * _MIB, 8 * 4800e6 * 8, 2, "64Gf"),
    "Two Intel Xeon Platinum 8480+ (Sapphire Rapids): 56 cores, 105 MiB, 8 x DDR5-4800 each;"
    " 2.0 GHz",
    _SINCE,
)
XEON_6980P = Processor(
    *("xeon-6980p", 128, 2 * _MIB, 504 * _MIB, 12 * 6400e6 * 8, 2, "64Gf"),
    "Two Intel Xeon 6980P (Granite Rapids): 128 cores, 504 MiB, 12 x DDR5-6400 each; 2.0 GHz",
    _SINCE,
)
EPYC_7763 = Processor(
    *("epyc-7763", 64, _MIB / 2, 256 * _MIB, 8 * 3200e6 * 8, 2, "39.2Gf"),
    "Two AMD EPYC 7763 (Milan): 64 cores, 256 MiB, 8 x DDR4-3200 each; 2.45 GHz",
    _SINCE,
    units="AVX2 FMA units x 4 doubles",
    maker="AMD",
)
EPYC_9654 = Processor(
    *("epyc-9654", 96, _MIB, 384 * _MIB, 12 * 4800e6 * 8, 2, "38.4Gf"),
    "Two AMD EPYC 9654 (Genoa): 96 cores, 384 MiB, 12 x DDR5-4800 each; 2.4 GHz",
    _SINCE,
    units="AVX2 FMA units x 4 doubles",
    maker="AMD",
)
EPYC_9755 = Processor(
    *("epyc-9755", 128, _MIB, 512 * _MIB, 12 * 6400e6 * 8, 2, "86.4Gf"),
    "Two AMD EPYC 9755 (Turin): 128 cores, 512 MiB, 12 x DDR5-6400 each; 2.7 GHz",
    _SINCE,
    maker="AMD",
)
# Alaska's files name the processor and its caches (github ukri-excalibur/excalibur-tests, commit
# 01326f4a, output/alaska/ib-gcc9-openmpi4-ucx/sysinfo/Sysinfo/sysinfo.json).
E5_2683 = Processor(
    *("xeon-e5-2683v4", 16, _MIB / 4, 40 * _MIB, 4 * 2400e6 * 8, 1, "33.6Gf"),
    "Two Intel Xeon E5-2683 v4 (Broadwell): 16 cores, 40 MiB, 4 x DDR4-2400 each; 2.1 GHz",
    units="AVX2 FMA units x 4 doubles",
    inclusive=True,
)
# Hosts with unnamed processors: midway between the generations, so that no generation is far off.
UNNAMED = replace(
    PLATINUM_8360Y,
    name="xeon-2-socket",
    stores=math.sqrt(2),
    source="Two Xeons that nobody names: cores, caches, memory and clock of the Platinum 8360Y, and"
    " rates of a core\n# midway between those of one and of two stores per cycle",
    guessed=("core_cache_size", "cache_size", "shared_cache_bandwidth"),
)

PROCESSORS = (
    *(UNNAMED, E5_2683, GOLD_6148, PLATINUM_8276, PLATINUM_8360Y),
    *(GOLD_6354, EPYC_7V73X),
    *(XEON_8480, XEON_6980P, EPYC_7763, EPYC_9654, EPYC_9755),
)
"""Processors whose presets the study writes."""


@dataclass(frozen=True)
class Call:
    """Measured call."""

    table: str
    fabric: str
    fallback: str
    collective: str
    ranks: int
    ppn: int
    bytes: int
    seconds: float


@dataclass(frozen=True)
class Source:
    """Table of a cluster's measurements."""

    table: str
    column: str
    fabric: str
    fallback: str
    ranks: int = 0
    ppn: int = 1
    bytes: int = 0


@dataclass(frozen=True)
class Cluster:
    """Hosts of one kind, with all of their measurements."""

    name: str
    processor: Processor
    sources: tuple[Source, ...]


_OPEN_MPI = ("openmpi-4.0", "openmpi-4.1")
CLUSTERS = (
    Cluster(
        "alaska",
        E5_2683,
        (
            Source("alaska_ib_openmpi4.csv", "time_us", "alaska-2", _OPEN_MPI[0]),
            Source("alaska_roce_openmpi4.csv", "time_us", "alaska-2-roce", _OPEN_MPI[0]),
        ),
    ),
    Cluster(
        "CSD3",
        PLATINUM_8276,
        (Source("csd3_openmpi3.csv", "time_us", "csd3-2", _OPEN_MPI[0]),),
    ),
    Cluster(
        "ABCI V",
        GOLD_6148,
        tuple(
            Source(f"abci_v_{nodes}x4.csv", "time_us", "abci-v-32", _OPEN_MPI[0])
            for nodes in (1, 2, 4, 8, 16, 32)
        ),
    ),
    Cluster(
        "ABCI A",
        PLATINUM_8360Y,
        tuple(
            Source(f"abci_a_{shape}.csv", "time_us", "abci-a-16", _OPEN_MPI[0])
            for shape in ("1x4", "1x8", "2x8", "4x8", "8x8", "16x8")
        ),
    ),
    Cluster(
        "UCC",
        GOLD_6148,  # UCC does not name its processors, which have 20 cores
        (Source("ucc_allreduce_32x40.csv", "hier_us", "hdr100-32", "allreduce=rab", 1280, 40),),
    ),
    Cluster(
        "Tofino",
        PLATINUM_8360Y,
        (
            Source("tofino_osu_allreduce_4x1.csv", "openmpi_tuned_us", "tofino-4", _OPEN_MPI[1], 4),
            Source(
                *("tofino_micro_allreduce_crowded.csv", "openmpi_tuned_us", "tofino-4"),
                _OPEN_MPI[1],
                bytes=256,
            ),
        ),
    ),
)


def _calls(source: Source) -> list[Call]:
    """Return the calls of a table, with repeats replaced by their geometric mean."""
    logs: dict[tuple[str, int, int, int], list[float]] = {}
    for row in read_table(_DATA / source.table):
        ranks = int(row.get("ranks") or source.ranks)
        ppn = int(row.get("ppn") or (ranks // int(row["nodes"]) if "nodes" in row else source.ppn))
        size = int(row.get("bytes") or source.bytes)
        key = (row.get("collective") or "allreduce", ranks, ppn, size)
        logs.setdefault(key, []).append(math.log(float(row[source.column]) * 1e-6))
    return [
        Call(
            Path(source.table).stem,
            source.fabric,
            source.fallback,
            *key,
            seconds=math.exp(sum(some) / len(some)),
        )
        for key, some in sorted(logs.items())
    ]


@cache
def calls_of(cluster: Cluster) -> tuple[Call, ...]:
    """Return all calls measured on a cluster."""
    return tuple(call for source in cluster.sources for call in _calls(source))


def chosen(cluster: Cluster) -> list[Call]:
    """Return the calls to fit to: every second power of two."""
    return [
        one
        for one in calls_of(cluster)
        if cluster.name in ("UCC", "Tofino")
        or (one.ranks <= _MOST_RANKS and one.bytes.bit_length() % 2 == 1)
    ]


@dataclass(frozen=True)
class Value:
    """Value shared by all clusters: a time or rate, or a fraction of a processor's property."""

    key: str
    start: float
    low: float
    high: float
    unit: str = ""


VALUES = (
    Value("loopback_latency", 2e-7, 1e-8, 5e-6, "s"),
    Value("message_overhead", 1e-7, 1e-8, 2e-6, "s"),
    Value("piece_overhead", 5e-8, 1e-9, 1e-6, "s"),
    Value("copy_rate", 3e9, 5e8, 1e11, "Bps"),
    Value("loopback_bandwidth", 5e9, 5e8, 1e11, "Bps"),
    Value("intersocket_latency", 5e-8, 1e-9, 5e-6, "s"),
    Value("intersocket_rate", 5e10, 1e9, 1e12, "Bps"),
    Value("reduction_rate", 1e10, 5e8, 2e11, "Bps"),
    Value("shared_cache_rate", 1e10, 1e9, 1e12, "Bps"),
    Value("core_memory_rate", 3e9, 5e8, 1e12, "Bps"),
    Value("memory_bandwidth", 1e10, 1e9, 1e11, "Bps"),
    Value("core_cache_size", 0.5, 0.1, 2.0),
    Value("cache_size", 1.0, 0.1, 3.0),
    Value("shared_cache_bandwidth", 3e9, 2e8, 1e11),
)
"""`memory_bandwidth` is the copy bandwidth of a socket's ranks through memory. It is not a fraction
of the peak, since sockets with 77 and 141 GB/s copy at the same rate (alaska, CSD3). The rates
of a core are those of a core with one store per cycle. The last three are fractions of the
second-level cache and of all caches of a socket, and a rate per core.
"""
_THRESHOLDS = (262144, 131072, 65536)
_OF_A_CORE = (
    "copy_rate",
    "loopback_bandwidth",
    "reduction_rate",
    "shared_cache_rate",
    "core_memory_rate",
)
Point = NDArray[np.float64]


def keys_of(processor: Processor, point: Point, threshold: int) -> dict[str, str]:
    """Return the keys of [host] for a processor."""
    values = dict(zip((one.key for one in VALUES), np.exp(point), strict=True))
    values |= {key: values[key] * processor.stores for key in _OF_A_CORE}
    values["message_overhead"] /= processor.stores
    keys = {one.key: f"{values[one.key]:.4g}{one.unit}" for one in VALUES if one.unit}
    return keys | {
        "sockets": "2",
        "core_cache_size": f"{round(values['core_cache_size'] * processor.core_cache)}B",
        "cache_size": f"{round(values['cache_size'] * processor.caches)}B",
        "shared_cache_bandwidth": f"{values['shared_cache_bandwidth'] * processor.cores:.4g}Bps",
        "single_copy_threshold": f"{threshold}B",
    }


def predict(
    cluster: Cluster, calls: Sequence[Call], point: Point, threshold: int
) -> NDArray[np.float64]:
    """Return ln(predicted / measured) of calls."""
    changes = [
        f"host.{key}={text}" for key, text in keys_of(cluster.processor, point, threshold).items()
    ]
    errors: dict[int, float] = {}
    for fabric, fallback in dict.fromkeys((one.fabric, one.fallback) for one in calls):
        loaded = _core.load_fabric(fabric, changes)
        some = [
            n for n, one in enumerate(calls) if (one.fabric, one.fallback) == (fabric, fallback)
        ]
        asked = []
        for number in some:
            call = calls[number]
            passed = elements_of(call.collective, call.bytes, call.ranks)
            asked.append(
                (call.collective, call.ranks, call.ppn, passed.count, passed.element_bytes)
            )
        for number, time in zip(some, _core.predicted_times(loaded, fallback, asked), strict=True):
            errors[number] = math.log(time / calls[number].seconds)
    return np.array([errors[number] for number in range(len(calls))])


def _start() -> Point:
    return np.log([one.start for one in VALUES])


def fit(clusters: Sequence[Cluster], threshold: int, begin: Point | None = None) -> Point:
    """Return the values that best fit some clusters, with equal weights.

    The search begins at `begin`, by default at the usual values.
    """
    rows = {one.name: chosen(one) for one in clusters}
    total = sum(map(len, rows.values()))
    weights = np.concatenate(
        [np.full(len(some), math.sqrt(total / len(rows) / len(some))) for some in rows.values()]
    )
    known: dict[bytes, Point] = {}

    def errors(point: Point) -> Point:
        name = point.tobytes()
        if name not in known:
            known[name] = np.concatenate(
                [predict(one, rows[one.name], point, threshold) for one in clusters]
            )
        return known[name]

    def residuals(point: Point) -> Point:
        return np.concatenate([weights * errors(point), _HELD * (point - _start())])

    def slopes(point: Point) -> Point:
        columns = []
        for index in range(len(VALUES)):
            moved = point.copy()
            moved[index] += _STEP
            columns.append(weights * (errors(moved) - errors(point)) / _STEP)
        return np.vstack([np.array(columns).T, _HELD * np.eye(len(VALUES))])

    found = least_squares(
        residuals,
        _start() if begin is None else begin,
        slopes,
        bounds=tuple(np.log([getattr(one, side) for one in VALUES]) for side in ("low", "high")),
        loss="soft_l1",
        f_scale=_WRONG,
        ftol=1e-3,
        xtol=1e-3,
        max_nfev=_EVALUATIONS if begin is None else _EVALUATIONS // 2,
    )
    return np.asarray(found.x)


def loss(clusters: Sequence[Cluster], point: Point, threshold: int) -> float:
    """Return the mean absolute error in ln, with equal weights for all clusters."""
    return float(
        np.mean([np.mean(np.abs(predict(one, chosen(one), point, threshold))) for one in clusters])
    )


def fit_all(clusters: Sequence[Cluster]) -> tuple[Point, int]:
    """Return the values and the threshold that best fit some clusters."""
    threshold = _THRESHOLDS[0]
    point = fit(clusters, threshold)
    best = min(_THRESHOLDS, key=lambda one: loss(clusters, point, one))
    return (point, threshold) if best == threshold else (fit(clusters, best, point), best)


def predict_left_out(left_out: Cluster, point: Point, threshold: int) -> tuple[Point, Point, float]:
    """Return the predictions for a left-out cluster, and the loss on its rows for fitting.

    The first prediction uses the cluster's processors, the second unnamed processors. Starting the
    search from the values of all clusters only saves time.
    """
    without = fit([one for one in CLUSTERS if one.name != left_out.name], threshold, point)
    unnamed = replace(left_out, processor=UNNAMED)
    calls = calls_of(left_out)
    return (
        predict(left_out, calls, without, threshold),
        predict(unnamed, calls, without, threshold),
        loss([left_out], without, threshold),
    )


_CLASSES = ((1024, "to 1 KiB"), (65536, "to 64 KiB"), (1 << 62, "above"))


def _class_of(size: int) -> str:
    return next(name for most, name in _CLASSES if size <= most)


def _mean_and_worst(errors: Iterable[float]) -> tuple[str, str]:
    logs = [abs(one) for one in errors]
    return f"{math.expm1(sum(logs) / len(logs)):.4f}", f"{math.expm1(max(logs)):.4f}"


def _errors_of(cluster: Cluster, how: str, predicted: Point) -> Table:
    """Return the errors of a cluster's collectives, by size class and ranks per host."""
    groups: dict[tuple[str, int, str], list[float]] = {}
    for call, error in zip(calls_of(cluster), predicted, strict=True):
        for name in (_class_of(call.bytes), "all"):
            groups.setdefault((call.collective, call.ppn, name), []).append(float(error))
    rows = []
    for (collective, ppn, name), errors in groups.items():
        mean, worst = _mean_and_worst(errors)
        rows.append(
            {
                "cluster": cluster.name,
                "fitted": how,
                "collective": collective,
                "ppn": str(ppn),
                "sizes": name,
                "rows": str(len(errors)),
                "mean": mean,
                "worst": worst,
            }
        )
    return rows


def _left_out(cluster: Cluster, predicted: Point, changes: str = "") -> Table:
    """Return the calls of a cluster, with times predicted from the values of all other clusters."""
    return [
        {
            "table": call.table,
            "fabric": call.fabric,
            "fallback": call.fallback,
            "collective": call.collective,
            "bytes": str(call.bytes),
            "ranks": str(call.ranks),
            "ppn": str(call.ppn),
            "predicted_us": f"{call.seconds * math.exp(error) * 1e6:.6g}",
            "measured_us": f"{call.seconds * 1e6:.6g}",
            "changes": changes,
        }
        for call, error in zip(calls_of(cluster), predicted, strict=True)
    ]


_LEFT_OUT_HEAD = """\
# Collectives of hosts, predicted with values that were fitted to other clusters only, from
# `python -m studies hosts`: `weft validate --errors` adds them to errors.csv as the errors of hosts
# without measurements of their own. fabric: the cluster's network, with those hosts. fallback: its
# algorithms. changes: the preset of hosts whose processors nobody names, where it was taken.
# Source: the tables, whose first lines name theirs, and weft.
"""


def measure() -> None:
    """Fit all clusters; then, for each cluster, fit all other clusters and predict it."""
    point, threshold = fit_all(CLUSTERS)
    print(
        f"all: {loss(CLUSTERS, point, threshold):.3f}, copied once from {threshold} B", flush=True
    )
    rows: Table = []
    calls: Table = []
    with ProcessPoolExecutor(2) as workers:
        found = list(
            workers.map(
                predict_left_out, CLUSTERS, *([one] * len(CLUSTERS) for one in (point, threshold))
            )
        )
    for left_out, (predicted, unnamed, its) in zip(CLUSTERS, found, strict=True):
        rows += _errors_of(left_out, "others", predicted)
        rows += _errors_of(left_out, "unnamed", unnamed)
        rows += _errors_of(left_out, "all", predict(left_out, calls_of(left_out), point, threshold))
        calls += _left_out(left_out, predicted)
        calls += _left_out(left_out, unnamed, f"host.preset={UNNAMED.name}")
        print(f"{left_out.name}: {its:.3f}", flush=True)
    write_table(_ERRORS, rows)
    write_table(_LEFT_OUT, calls, _LEFT_OUT_HEAD)
    values = dict(zip((one.key for one in VALUES), np.exp(point), strict=True))
    write_table(
        _VALUES,
        [{"value": key, "fitted": f"{value:.4g}"} for key, value in values.items()]
        + [{"value": "single_copy_threshold", "fitted": str(threshold)}],
    )
    for processor in PROCESSORS:
        _write_preset(processor, keys_of(processor, point, threshold))


_NOTE = """\
# Fitted to collectives of Open MPI and UCC on several clusters (`python -m studies hosts`,
# docs/accuracy.md). Costs of messages, sums and copies are those of a core alone, the same for all
# processors of a generation; caches and bandwidths are the same fractions of what each has.
"""


def _write_preset(processor: Processor, keys: Mapping[str, str]) -> None:
    """Write a shipped preset of hosts with these processors."""
    lines = [
        f"# {processor.source} ({processor.maker}'s product page).",
        "",
        f"cores = {2 * processor.cores}",
        "",
        f"# Base clock x 2 {processor.units} x 2 flops: a peak. It only scales",
        "# computation that is timed.",
        f'speed = "{processor.flops}"',
        "",
        *_NOTE.splitlines(),
    ]
    lines += [
        f"{key} = {text}" if key == "sockets" else f'{key} = "{text}"' for key, text in keys.items()
    ]
    target = ROOT / "presets" / "host" / f"{processor.name}.toml"
    if processor.guessed:
        lines += [
            "",
            "# By the processor assumed above."
            if processor.maker == "Intel"
            else "# Fitted to Intel's processors, or fractions that were.",
            f"unmeasured = {json.dumps(processor.guessed)}",
        ]
    with whole_file(_OPTION, target) as file:
        file.write("\n".join(lines) + "\n")


def _percent(text: str) -> str:
    return f"{100 * float(text):.0f} %"


def _texts() -> Mapping[str, str]:
    rows = read_table(_ERRORS)
    found: dict[tuple[str, str, str], dict[str, Mapping[str, str]]] = {}
    for row in rows:
        key = (row["cluster"], row["collective"], row["ppn"])
        found.setdefault(key, {})[row["fitted"] + row["sizes"]] = row
    names = [name for _, name in _CLASSES]
    lines = []
    for (cluster, collective, ppn), its in found.items():
        every, own = its["othersall"], its["allall"]
        by_class = [its.get("others" + name) for name in names]
        lines.append(
            [
                *(cluster, collective, ppn, every["rows"]),
                *(_percent(every["mean"]), _percent(every["worst"])),
                *("" if one is None else _percent(one["mean"]) for one in by_class),
                _percent(own["mean"]),
            ]
        )
    heads = ["cluster", "collective", "ranks a host", "rows", "mean", "worst", *names, "fitted too"]
    return {"table: host-transfer": markdown(heads, lines, 2) + "\n" + _means(rows)}


def _means(rows: Table) -> str:
    """Return the mean error of each cluster as sentences."""
    parts, unnamed = [], []
    for cluster in CLUSTERS:
        its = [one for one in rows if one["cluster"] == cluster.name and one["sizes"] == "all"]
        means = [
            _mean_of([one for one in its if one["fitted"] == how])
            for how in ("others", "all", "unnamed")
        ]
        parts.append(f"{cluster.name} {means[0]} ({means[1]})")
        unnamed.append(f"{cluster.name} {means[2]}")
    text = (
        "Mean error over all rows of a cluster, in parentheses with the cluster among the fitted"
        f" ones: {', '.join(parts)}. With `xeon-2-socket`, as if nobody had named the left-out"
        f" cluster's processors: {', '.join(unnamed)}."
    )
    return textwrap.fill(text, 100) + "\n"


def _mean_of(rows: Table) -> str:
    logs = [math.log1p(float(one["mean"])) * int(one["rows"]) for one in rows]
    return f"{100 * math.expm1(sum(logs) / sum(int(one['rows']) for one in rows)):.0f} %"


STUDY = Study(
    "hosts",
    "host values that transfer between clusters",
    measure,
    page=DOCS / "accuracy.md",
    texts=_texts,
)
