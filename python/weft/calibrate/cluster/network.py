# SPDX-License-Identifier: LGPL-2.1-only
"""Network calibration from osu_bw and osu_latency: link rate, link latency and message costs.

The link rate is the lowest standard rate that the fastest stream of messages does not exceed,
provided that the stream reaches most of it; headers account for the rest. If no standard rate is
close, something else limits the stream, and the link gets the measured rate. All other message
parameters are fitted by `weft.calibrate.point_to_point.p2p`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from weft import _core
from weft.base.errors import WeftError, named
from weft.base.measured import Column, LogError, log_error
from weft.base.process import work_directory
from weft.benchmarks.output import Measured
from weft.calibrate.cluster.folder import Evidence
from weft.calibrate.measurements.samples import PingPong, Samples, check_times, read_pingpong
from weft.calibrate.measurements.simulated import simulate_ping_pong
from weft.calibrate.measurements.tables import Table, TableRow
from weft.calibrate.point_to_point import fabric_file, p2p
from weft.calibrate.point_to_point.p2p import Calibration
from weft.fabric.toml_file import SourcedValue, in_toml, with_values

if TYPE_CHECKING:
    from weft._core import Fabric
    from weft.calibrate.measurements.samples import Floats

# Data rates in Gb/s: Ethernet (IEEE 802.3-2022), InfiniBand with four lanes, without encoding
# overhead (IBTA roadmap: QDR 32, FDR 54.5, EDR 100, HDR 200, NDR 400, XDR 800).
_STANDARD_GBPS = (1.0, 2.5, 5.0, 10.0, 25.0, 32.0, 40.0, 50.0, 54.5, 100.0, 200.0, 400.0, 800.0)
# osu_bw reaches 97 % of InfiniBand's 100 Gb/s and 98 % of RoCE's 25 (data/alaska_ib_openmpi4.csv
# and its RoCE twin). Below 80 %, more than headers limits the stream.
_LEAST_SHARE, _MEASUREMENT = 0.8, 1.005
# In the same tables, streams reach 1.0 to 1.1 times the rate of the largest ping-pong messages.
_LEAST_STREAM = 0.9
_BYTES_PER_GBPS = 1.25e8
_RESAMPLES, _SEED, _PERCENT = 200, 29, 90
_COLUMN = "us"
_NIC_BOUND = 0.7
"""The NIC limits the pairs if they send at most this share of the messages of as many single pairs.
"""


@dataclass(frozen=True)
class LinkRate:
    """Rate of a link, and its source in the measurements."""

    gbps: float
    reached_Bps: float  # noqa: N815 (as records and presets name it)
    source: str
    standard: bool

    @property
    def toml(self) -> str:
        """Value of `link.bandwidth`."""
        return f"{self.gbps:.4g}Gbps"

    @property
    def note(self) -> str:
        """Comment next to the value."""
        share = self.reached_Bps / _BYTES_PER_GBPS / self.gbps
        why = f"{share:.0%} of it" if self.standard else "no standard rate is close"
        return f"{self.source} reaches {self.reached_Bps / 1e9:.4g} GB/s, {why}"


@dataclass(frozen=True)
class MessageRate:
    """Messages per second of a NIC, from the osu_mbw_mr run with the most pairs."""

    per_s: float
    pairs: int
    source: str

    @property
    def toml(self) -> str:
        """Value of `nic.message_rate`."""
        return f"{self.per_s / 1e6:.4g}MHz"

    @property
    def note(self) -> str:
        """Comment next to the value."""
        return f"{self.source}: {self.pairs} pairs"


@dataclass(frozen=True)
class NetworkFit:
    """Fabric with a fitted network."""

    text: str
    rate: LinkRate
    calibration: Calibration
    simulated: Column
    error: LogError
    """Ping-pong error over all sizes."""
    intervals: Mapping[str, tuple[str, str]]
    """Bootstrap intervals by key, as in [calibration.intervals]."""
    values: Mapping[str, str]
    """Fitted values of the same keys."""
    messages: Sequence[str]
    """Message costs by range of sizes with their intervals, in words."""
    message_rate: MessageRate | None = None


def message_rate(evidence: Evidence) -> MessageRate | None:
    """Return the message rate of a NIC; None if no run is limited by it.

    A run is limited if its pairs send clearly fewer messages than as many single pairs would.
    """
    alone, many = [], []
    for one in evidence.bandwidth:
        rates = [row.value * 1e6 / row.bytes for row in one.rows if row.bytes > 0]
        if one.suite != "OSU" or one.benchmark not in ("bw", "mbw_mr") or not rates:
            continue
        pairs = int(one.options.get("pairs", "1"))
        if pairs == 1:
            alone.append(max(rates))
        else:
            many.append(MessageRate(max(rates), pairs, stream_name(one)))
    if not (alone and many):
        return None
    most = max(many, key=lambda one: (one.pairs, one.per_s))
    return most if most.per_s < _NIC_BOUND * most.pairs * max(alone) else None


def standard_rate(reached_Bps: float, source: str) -> LinkRate:  # noqa: N803
    """Return the link rate implied by the fastest stream."""
    gbps = reached_Bps / _BYTES_PER_GBPS
    for one in _STANDARD_GBPS:
        if gbps <= one * _MEASUREMENT:
            if gbps >= one * _LEAST_SHARE:
                return LinkRate(one, reached_Bps, source, standard=True)
            break
    return LinkRate(gbps, reached_Bps, source, standard=False)


def fit(evidence: Evidence, base: str | None, name: str) -> NetworkFit:
    """Fit links and messages on a base fabric, or on a star with the number of measured hosts."""
    pingpong = _pingpong(evidence)
    threshold = None if base is None else fabric_file.eager_threshold_of(base)
    calibration = p2p.calibrate(pingpong, None, "all", threshold, _stream(evidence))
    rate = _rate(evidence, calibration)
    head = _head(evidence, base, name, rate, calibration.latency_s)
    text = _rendered(calibration, name, head)
    messages = message_rate(evidence)
    if messages is not None:
        value = SourcedValue(messages.toml, messages.note)
        text = with_values(text, "nic", {"message_rate": value})
    hosts = fabric_file.pair_of(fabric_file.check(text), pingpong.between)
    simulated = simulate_ping_pong(text, list(calibration.measured), hosts)
    spread = _spread(calibration)
    latency = _link_latency(text)
    return NetworkFit(
        text,
        rate,
        calibration,
        simulated,
        log_error(simulated, calibration.measured),
        _in_file(spread, rate, latency),
        {"link.bandwidth": rate.toml, "link.latency": f"{latency:.4g}s"},
        _messages(calibration, spread),
        messages,
    )


def _link_latency(text: str) -> float:
    """Return the link latency of a fabric's text, in seconds."""
    fabric = fabric_file.check(text)
    return _latency_of(fabric, fabric_file.pair_of(fabric, ()))


def _latency_of(fabric: "Fabric", hosts: tuple[int, int]) -> float:
    """Return the lowest latency of a link on the route between two hosts, in seconds."""
    names = {name.rpartition(".")[0] for name in fabric.route(*hosts)["links"]}
    return min(cable["latency_s"] for cable in fabric.cables() if cable["name"] in names)


def _rendered(calibration: Calibration, name: str, head: str) -> str:
    with work_directory() as work:
        file = work / "fabric.toml"
        file.write_text(head, encoding="utf-8")
        return fabric_file.render(calibration, name, str(file))


def _pingpong(evidence: Evidence) -> PingPong:
    if evidence.pairs is not None:
        return read_pingpong(evidence.pairs)
    if not evidence.latency:
        raise WeftError(
            f"{named('folder')}: {evidence.folder} has no ping-pong between two hosts (osu_latency,"
            " IMB's PingPong), to fit the network to; add one, or use the network of a fabric"
            f" with {named('base')} and {named('part')} hosts"
        )
    one = evidence.latency[0]
    seconds = evidence.one_way()
    lines = {row.bytes: row.line for row in one.rows}
    rows = tuple(
        TableRow(lines.get(size, one.line), (str(size), repr(time * 1e6)))
        for size, time in seconds.items()
    )
    table = Table(one.path, one.suite, ("bytes", _COLUMN), rows)
    check_times(table, rows, _COLUMN)
    return PingPong(
        Samples(table, _COLUMN, np.array([*seconds], float), np.array([*seconds.values()]))
    )


def stream_name(one: Measured) -> str:
    """Return the name of a stream in tables and comments."""
    return f"{one.benchmark} ({one.path.name})"


def core_streams(evidence: Evidence) -> list[Measured]:
    """Return the OSU streams between two ranks; the first one determines the cores' time."""
    return [one for one in evidence.bandwidth if (one.suite, one.benchmark) == ("OSU", "bw")]


def _stream(evidence: Evidence) -> dict[int, float]:
    """Return the seconds per message of the first core stream, by message size."""
    return {
        row.bytes: row.bytes / (row.value * 1e6)
        for one in core_streams(evidence)[:1]
        for row in one.rows
    }


def _rate(evidence: Evidence, calibration: Calibration) -> LinkRate:
    """Return the link rate of the fastest stream, or of the ping-pong if all streams are slower."""
    peaks = [
        (max(row.value for row in one.rows) * 1e6, stream_name(one)) for one in evidence.bandwidth
    ]
    one_way = 1 / calibration.per_byte_s
    # Streams that contain only small messages do not reach the rate.
    if max([0.0, *(rate for rate, _ in peaks)]) < _LEAST_STREAM * one_way:
        table = calibration.pingpong.one_way.table
        peaks = [(one_way, f"the ping-pong ({table.path.name})")]
    return standard_rate(*max(peaks))


def _head(evidence: Evidence, base: str | None, name: str, rate: LinkRate, latency_s: float) -> str:
    """Return the text of the fabric without message costs."""
    if base is None:
        return _star(evidence, name, rate, latency_s)
    fabric = _core.load_fabric(base)
    route = fabric.route(*fabric_file.pair_of(fabric, ()))
    own = _latency_of(fabric, fabric_file.pair_of(fabric, ()))
    latency = max(own + (latency_s - route["latency_s"]) / len(route["links"]), latency_s / 100)
    text = Path(fabric.file).read_text(encoding="utf-8")
    values = {
        "bandwidth": SourcedValue(rate.toml, rate.note),
        "latency": SourcedValue(
            f"{latency:.4g}s", "so that the shortest messages take the measured time"
        ),
    }
    return with_values(text, "link", values)


def _star(evidence: Evidence, name: str, rate: LinkRate, latency_s: float) -> str:
    return f"""[fabric]
name = {in_toml(name)}
description = {in_toml(f"{evidence.hosts} hosts, calibrated from {evidence.folder.name}")}

[topology]
kind = "star"
hosts = {evidence.hosts}

# Measurements of messages tell neither CPU, NIC nor switch: presets that stand in for them.
[host]
preset = "xeon-2-socket"
cores = {evidence.ppn}

[nic]
preset = "connectx-6-dx"

# A ping-pong does not tell cable and switch apart: each of two cables has half of its latency.
[link]
bandwidth = {in_toml(rate.toml)}  # {rate.note}
latency = {in_toml(f"{latency_s / 2:.4g}s")}

[switch]
preset = "l2"
forwarding_latency = "0s"
"""


def _spread(calibration: Calibration) -> dict[str, tuple[float, float, float]]:
    """Return value and bootstrap interval by parameter, from refits with resampled errors."""
    samples = calibration.pingpong.one_way
    model = calibration.seconds(samples.bytes)
    errors = np.log(samples.seconds / model)
    random = np.random.default_rng(_SEED)
    segments = len(calibration.transfer.segments)
    drawn: dict[str, list[float]] = {}
    for _ in range(_RESAMPLES):
        seconds = model * np.exp(random.choice(errors, len(errors)))
        for key, value in _values(_again(calibration, seconds, segments)).items():
            drawn.setdefault(key, []).append(value)
    tail = (100 - _PERCENT) / 2
    spread = {}
    for key, value in _values(calibration).items():
        low, high = np.percentile(drawn.get(key, [value]), [tail, 100 - tail])
        spread[key] = (value, min(float(low), value), max(float(high), value))
    return spread


def _again(calibration: Calibration, seconds: "Floats", segments: int) -> Calibration:
    samples = replace(calibration.pingpong.one_way, seconds=seconds)
    pingpong = replace(calibration.pingpong, one_way=samples, between={})
    return p2p.calibrate(pingpong, segments, "all", calibration.eager_threshold, calibration.stream)


def _values(calibration: Calibration) -> dict[str, float]:
    """Return the fitted parameters: latency, rate, and message costs by range of sizes."""
    found = {"latency": calibration.latency_s, "rate": 1 / calibration.per_byte_s}
    for number, row in enumerate(calibration.shares().eager):
        found[f"eager {number}"] = row.send.fixed_s + row.receive.fixed_s
        found[f"eager bytes {number}"] = row.send.per_byte_s + row.receive.per_byte_s
    for number, segment in enumerate(calibration.rendezvous):
        found[f"rendezvous {number}"] = segment.fixed_s
    return found


def _messages(
    calibration: Calibration, spread: Mapping[str, tuple[float, float, float]]
) -> list[str]:
    """Return a line with the interval of each message cost."""
    lines = []

    def say(label: str, key: str, factor: float, unit: str) -> None:
        value, low, high = (one * factor for one in spread[key])
        lines.append(f"{label}: {value:.3g} {unit} ({low:.3g} to {high:.3g})")

    for number, row in enumerate(calibration.shares().eager):
        label = f"eager from {row.from_bytes} B, both cores"
        say(label, f"eager {number}", 1e6, "us")
        say(label, f"eager bytes {number}", 1e9, "ns per byte")
    for number, segment in enumerate(calibration.rendezvous):
        say(f"rendezvous from {segment.from_bytes} B", f"rendezvous {number}", 1e6, "us")
    return lines


def _in_file(
    spread: Mapping[str, tuple[float, float, float]], rate: LinkRate, latency_s: float
) -> dict[str, tuple[str, str]]:
    """Return the intervals of link.bandwidth and link.latency, scaled to the written values."""
    value, low, high = spread["rate"]
    shares = (low / value, high / value)
    bandwidth = tuple(f"{rate.gbps * share:.4g}Gbps" for share in shares)
    value, low, high = spread["latency"]
    latency = tuple(f"{latency_s * share:.4g}s" for share in (low / value, high / value))
    return {
        "link.bandwidth": (bandwidth[0], bandwidth[1]),
        "link.latency": (latency[0], latency[1]),
    }
