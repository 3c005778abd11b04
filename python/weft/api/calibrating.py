# SPDX-License-Identifier: LGPL-2.1-only
"""Fits of fabric files to measurements of a testbed, as in `weft calibrate`.

SciPy is imported lazily, as it is slow to load.
"""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from weft import _core
from weft.api.fabrics import Fabric
from weft.api.input_checks import PathLike, call, choice, existing, measured, whole, words
from weft.base.errors import WeftError
from weft.base.measured import LogError, log_error
from weft.base.units import parse_size
from weft.runs.options import MOST_RANKS

if TYPE_CHECKING:
    from weft.calibrate.host.host import HostFit
    from weft.calibrate.measurements.tables import Rows as _Rows
    from weft.calibrate.point_to_point.p2p import Calibration
    from weft.calibrate.switch.switch import Observations, SwitchFit

__all__ = [
    "ClusterCalibration",
    "CpuSpeed",
    "HostCalibration",
    "MessagesFit",
    "SwitchCalibration",
    "calibrate_cluster",
    "calibrate_cpu",
    "calibrate_here",
    "calibrate_host",
    "calibrate_p2p",
    "calibrate_switch",
]

Rows = Literal["all", "even", "odd"]
_ROWS = ("all", "even", "odd")


@dataclass(frozen=True)
class CpuSpeed:
    """Compute speed of one core of this machine."""

    flops: float
    """Floating-point operations per second (median)."""
    repetitions: Sequence[float]
    """Result of each measurement."""
    text: str
    """Value for `host_speed` and fabric files: `12.3Gf`."""


@call
def calibrate_cpu(
    *, repetitions: int = 7, base: PathLike | None = None, path: PathLike | None = None
) -> CpuSpeed:
    """Measure the compute speed of one core of this machine.

    Args:
        repetitions: Number of measurements; each takes less than a second.
        base: Fabric whose hosts get this speed; with `path`.
        path: The fabric file to write.
    """
    from weft.calibrate.host import cpu
    from weft.calibrate.point_to_point import fabric_file

    if (base is None) != (path is None):
        raise WeftError(
            "base and path require each other: name the fabric to change, and the new file"
        )
    if base is not None:
        cpu.with_speed(str(base), "1Gf")
    speed = cpu.measure(whole("repetitions", repetitions, 1, 10_000))
    if base is not None and path is not None:
        fabric_file.write(cpu.with_speed(str(base), speed.text), Path(path))
    return CpuSpeed(speed.median, speed.repetitions, speed.text)


@dataclass(frozen=True)
class MessagesFit:
    """Point-to-point messages fitted to a ping-pong."""

    fabric: Fabric
    """The fabric as written."""
    error: LogError
    """Error of a simulation of the ping-pong over all rows: `mean` and `worst`; 0.1 is 10 %."""
    measured_us: Mapping[int, float]
    """One-way times by size, in microseconds."""
    simulated_us: Mapping[int, float]
    eager_threshold: int
    """Threshold in bytes: measured, or from the base."""
    details: "Calibration"


@call
def calibrate_p2p(
    table: PathLike,
    path: PathLike,
    *,
    base: PathLike | None = None,
    column: str | None = None,
    rows: Rows = "all",
    segments: int | None = None,
    allreduce: int | None = None,
    pair: str | None = None,
    plot: PathLike | None = None,
) -> MessagesFit:
    """Fit point-to-point messages to a ping-pong, write a fabric file, and simulate it.

    Args:
        table: Output of osu_latency, IMB's PingPong, SKaMPI or ib_send_lat, or CSV with `bytes`
            and one-way times whose column names end in their unit.
        path: The fabric file to write.
        base: The fabric that provides all other values. By default two hosts on a switch.
        column: Column of the times, if there are several.
        rows: Rows to fit to; "even" or "odd" holds out the other half for a test.
        segments: Segments of the model, up to 8. By default as many as the rows support.
        allreduce: The table measures Open MPI's Allreduce on this number of hosts (4 or 8).
        pair: SOURCE:TARGET, the hosts that the table measured, or the pair to select from it. By
            default the first two hosts of base, and all pairs.
        plot: Figure of measurement and simulation: .png, .pdf or .svg.
    """
    from weft.calibrate.measurements.rounds import single_messages
    from weft.calibrate.measurements.samples import parse_pair, read_allreduce, read_pingpong
    from weft.calibrate.point_to_point import fabric_file, p2p
    from weft.calibrate.point_to_point.piecewise import MAX_SEGMENTS

    if plot is not None:
        p2p.check_plot(Path(plot))
    count = None if segments is None else whole("segments", segments, 1, MAX_SEGMENTS)
    file = measured("table", table)
    if allreduce is None:
        pingpong = read_pingpong(file, column, None if pair is None else parse_pair(pair))
    elif pair is not None:
        raise WeftError("pair: applies to ping-pongs only, not with allreduce")
    else:
        pingpong = single_messages(read_allreduce(file, column), allreduce)
    name = None if base is None else str(base)
    threshold = None if name is None else fabric_file.eager_threshold_of(name)
    choice("rows", rows, _ROWS)
    found = p2p.calibrate(pingpong, count, rows, threshold)
    simulated = fabric_file.write_messages(found, name, Path(path))
    if plot is not None:
        p2p.plot(found, simulated, Path(plot))
    error = log_error(simulated, found.measured)
    made = Fabric(path)
    return MessagesFit(made, error, found.measured, simulated, found.eager_threshold, found)


@dataclass(frozen=True)
class SwitchCalibration:
    """Switch and NICs fitted to offloaded Allreduces."""

    fabric: Fabric
    """The fabric as written."""
    errors: Mapping[str, LogError]
    """Errors of a simulation of the tables, by table and rows: `mean` and `worst`; 0.1 is 10 %."""
    details: "SwitchFit"
    """`estimates`, each with its confidence interval, in SI units."""


@call
def calibrate_switch(
    *tables: PathLike,
    base: PathLike,
    path: PathLike,
    column: str | None = None,
    rows: Rows = "all",
    bytes: int | str | None = None,
    ppn: int = 1,
    nodes: int | None = None,
    benchmark: str | None = None,
) -> SwitchCalibration:
    """Fit switch and NICs to measurements of offloaded Allreduces.

    Args:
        tables: CSV by `bytes`, or by `ranks` and `nodes`, or output of osu_allreduce, IMB or
            nccl-tests.
        base: Fabric of identical smart switches, which provides all other values.
        path: The fabric file to write.
        column: Column of the times, if there are several.
        rows: Rows to fit to; "even" or "odd" holds out the other half for a test.
        bytes: Message size of tables by ranks.
        ppn: Ranks per host of tables by size.
        nodes: Hosts of tables by size. By default all hosts of the fabric.
        benchmark: Benchmark that produced tables which do not name it: "osu", "imb",
            "ucc_perftest", "loop".
    """
    from weft.calibrate.point_to_point import fabric_file
    from weft.calibrate.switch import file as switch_file
    from weft.calibrate.switch import run as switch_run
    from weft.calibrate.switch import switch

    if not tables:
        raise WeftError("tables: found none; name at least one file")
    files = [measured("tables", one) for one in tables]
    fabric = _core.load_fabric(str(base))
    hardware = switch.hardware_of(fabric)
    size = None if bytes is None else parse_size(str(bytes), "bytes")
    hosts = len(fabric.hosts) if nodes is None else whole("nodes", nodes, 1, len(fabric.hosts))
    count = whole("ppn", ppn, 1, MOST_RANKS)
    parts: dict[str, tuple[_Rows, ...]] = {
        "all": ("all",),
        "even": ("even", "odd"),
        "odd": ("odd", "even"),
    }
    wanted = parts[choice("rows", rows, _ROWS)]

    asked = switch_run.Asked(column, size, count, hosts, benchmark)
    seen = {part: switch_run.read(fabric, hardware, files, part, asked) for part in wanted}
    fit = switch.fit(hardware, seen[wanted[0]], switch_file.values_of(fabric))
    command = f"weft calibrate switch {' '.join(one.name for one in files)} --rows {wanted[0]}"
    text = switch_file.render(fit, fabric, switch_run.path_of_one_switch(fabric), command)
    fabric_file.check(text)
    errors = {
        f"{one.name}, {which} rows": error
        for which, observed in seen.items()
        for one in observed
        if (error := _error(one, switch_run.simulated_seconds(text, fabric, one).tolist()))
    }
    fabric_file.write(text, Path(path))
    return SwitchCalibration(Fabric(path), errors, fit)


def _error(table: "Observations", seconds: Sequence[float]) -> LogError | None:
    simulated = {row: time for row, time in enumerate(seconds) if math.isfinite(time)}
    return log_error(simulated, dict(enumerate(table.seconds.tolist()))) if simulated else None


@dataclass(frozen=True)
class HostCalibration:
    """Hosts fitted to collectives with several ranks per host."""

    fabric: Fabric
    """The fabric as written."""
    values: Mapping[str, float]
    """Keys determined by the rows, with values in SI units."""
    intervals: Mapping[str, tuple[float, float]]
    """Bootstrap intervals (90 %) of these keys."""
    undetermined: Mapping[str, str]
    """Keys not determined by the rows, each with the reason."""
    fitted: LogError
    """Error of the written fabric on the fitted rows."""
    held_out: LogError | None
    """Error on held-out rows: unfitted rows, and cross-validation folds."""
    tries: int


@call
def calibrate_host(
    table: PathLike,
    path: PathLike,
    *,
    base: PathLike,
    column: str | None = None,
    benchmark: str | None = None,
    keys: Sequence[str] = (),
    fit: Sequence[str] | None = None,
    fallback: str | None = None,
    on_turn: Callable[[int, float], object] | None = None,
) -> HostCalibration:
    """Fit the hosts to collectives with several ranks per host.

    Args:
        table: CSV with `collective`, `ranks`, `ppn`, `bytes` and a time.
        path: The fabric file to write.
        base: Fabric that provides the network and the messages between hosts.
        column: Column of the times, if there are several.
        benchmark: Benchmark that produced a table which does not name it: "osu", "imb",
            "ucc_perftest", "loop".
        keys: Keys to fit, KEY[=LOW:HIGH] in the key's unit. By default the keys of [host] that
            affect messages within a host.
        fit: Rows to fit to, COLLECTIVE:BYTES. By default all rows, or as many as can be simulated
            in a minute or two.
        fallback: Algorithms of the hosts' MPI library.
        on_turn: Called with the number of evaluations so far and the best loss.
    """
    from weft.calibrate.host import host
    from weft.calibrate.host import keys as host_keys
    from weft.calibrate.host import rows as host_rows
    from weft.calibrate.point_to_point import fabric_file

    fabric = _core.load_fabric(str(base))
    wanted = host_keys.find_keys(words("keys", keys), str(base))
    file = measured("table", table)
    times = host_rows.read_rows(file, column)
    host_rows.check_fits(fabric, times)
    rows = (
        host_rows.choose(times) if fit is None else host_rows.named_rows(times, words("fit", fit))
    )
    methods = dict.fromkeys(times, host_rows.read_method(file, benchmark))
    found = host.fit(fabric, wanted, times, methods, rows, fallback, on_turn)
    fitted = found.error(times, list(found.fitted))
    head = (
        f"# Hosts fitted by `weft calibrate host` to {file.name}: logarithmic error"
        f" {fitted.mean:.1%} mean, {fitted.worst:.1%} worst of the rows fitted to.\n"
    )
    fabric_file.write(head + host.with_intervals(found.text, found.intervals), Path(path))
    return _host_calibration(path, found, fitted, found.held_out(times))


def _host_calibration(
    path: PathLike, found: "HostFit", fitted: LogError, held_out: LogError | None
) -> HostCalibration:
    return HostCalibration(
        Fabric(path),
        {key.text: one.value for key, one in found.values.items()},
        {key.text: (one.low, one.high) for key, one in found.values.items()},
        {key.text: one.why for key, one in found.undetermined.items()},
        fitted,
        held_out,
        found.tries,
    )


@call
def calibrate_here(
    path: PathLike,
    *,
    base: PathLike | None = None,
    repetitions: int = 9,
    caches: str | None = None,
) -> Mapping[str, str]:
    """Measure this machine as a host: reductions and copies by cache level, and local messages.

    Args:
        path: The fabric file to write; without `base`, a file with only a [host] table.
        base: Fabric whose hosts receive the values of this machine.
        repetitions: Number of measurements.
        caches: Sizes of a core's own cache and of the last level, such as 1MiB,32MiB. By default as
            reported by Linux.

    Returns:
        The values written, by key of [host].
    """
    from weft.calibrate.host import here

    found = here.find_caches() if caches is None else here.parse_caches(caches)
    measured = here.measure(repetitions, found)
    here.write(measured, repetitions, None if base is None else str(base), Path(path))
    return {key: str(noted.value) for key, noted in measured.values.items()}


@dataclass(frozen=True)
class ClusterCalibration:
    """Fabric fitted to a folder of benchmark outputs."""

    fabric: Fabric
    """The fabric as written."""
    link_Gbps: float | None  # noqa: N815 (a unit)
    """Rate of the links; None if only hosts were fitted."""
    messages: LogError | None
    """Error of a simulated ping-pong; None if only hosts were fitted."""
    hosts: HostCalibration | None
    """Fit of the hosts; None if only the network was fitted."""
    held_out: LogError | None
    """Error on all collectives, each predicted from other rows (folds), or from the base's hosts.
    """
    intervals: Mapping[str, tuple[str, str]]
    """Bootstrap intervals (90 %) by key, in the units of the file."""
    uses: Mapping[str, str]
    """Groups of rows and their purpose."""


@call
def calibrate_cluster(
    folder: PathLike,
    path: PathLike,
    *,
    base: PathLike | None = None,
    topology: PathLike | None = None,
    part: Literal["all", "network", "hosts"] = "all",
    keys: Sequence[str] = (),
    ranks: int | None = None,
    ppn: int | None = None,
    fallback: str | None = None,
    on_turn: Callable[[int, float], object] | None = None,
) -> ClusterCalibration:
    """Calibrate a fabric from a folder of raw OSU, IMB or nccl-tests outputs.

    Args:
        folder: The outputs, with any file names; `weft calibrate cluster --help` lists the outputs
            used.
        path: The fabric file to write.
        base: Fabric that provides all other values. By default a star of the measured hosts.
        topology: Topology file of another tool, such as an output of ibnetdiscover, which provides
            the fabric's hosts, switches and cables instead of `base`; see `weft.fabric_from`.
        part: Part to fit; the other part keeps the base's values, and its measurements are
            predicted.
        keys: Keys of the hosts to fit, KEY[=LOW:HIGH] in the key's unit.
        ranks: Ranks of collectives whose files do not state them.
        ppn: Ranks per host of collectives whose files do not state them.
        fallback: Algorithms of the hosts' MPI library.
        on_turn: Called with the number of evaluations so far and the best loss.
    """
    from weft.calibrate.cluster import cluster
    from weft.calibrate.cluster.folder import read_folder
    from weft.calibrate.host import keys as host_keys
    from weft.calibrate.point_to_point import fabric_file

    choice("part", part, cluster.PARTS)
    count = None if ranks is None else whole("ranks", ranks, 2, MOST_RANKS)
    each = None if ppn is None else whole("ppn", ppn, 1, MOST_RANKS)
    own = None if base is None else str(base)
    file = None if topology is None else existing("topology", topology)
    with cluster.base_of(own, file) as (start, note):
        if note:
            warnings.warn(f"{file}: {note}", stacklevel=3)
        wanted = host_keys.find_keys(words("keys", keys), start)
        evidence = read_folder(Path(folder), count, each)
        fit = cluster.calibrate(evidence, Path(path).stem, start, part, wanted, fallback, on_turn)
    fabric_file.write(fit.text, Path(path))
    hosts, inside = None, fit.collectives
    if fit.hosts is not None and inside is not None:
        hosts = _host_calibration(path, fit.hosts, inside, fit.held_out)
    return ClusterCalibration(
        Fabric(path),
        None if fit.network is None else fit.network.rate.gbps,
        None if fit.network is None else fit.network.error,
        hosts,
        fit.held_out,
        fit.intervals,
        {use.rows: use.purpose for use in fit.uses},
    )
