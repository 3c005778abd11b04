# SPDX-License-Identifier: LGPL-2.1-only
"""Switch calibration: fits switch and NIC parameters to offloaded Allreduces, with intervals.

The model is weft's own (docs/models.md, `stream`), for k ranks per host:

    T(S, k) = base + longer + entering + (k - 1) * gap
              + streaming(S, min(B / k, copy_rate), turnaround + longer)

`longer` is the additional round-trip time of a row's tree compared with a single pipeline of a
single switch, and `entering` the spread of the times at which ranks enter a call in the row's
benchmark; simulations of the base fabric determine both terms, so that one set of values explains
tables of several benchmarks. Other values of the base fabric (packet_copy_rate, aggregation_rate)
are assumed to be known. Residuals are logarithmic.

Intervals are profile likelihoods: the values of a parameter at which the best fit of all other
parameters is not significantly worse (F test). This requires no derivative, which the model lacks
where the limiting term changes. If the data do not bound a parameter, its interval is open and the
parameter is undetermined. All intervals hold jointly with 95 % confidence.

Undetermined parameters keep the base fabric's value, and the determined parameters are fitted
again. Two parameters that can compensate for each other are both undetermined, although one of them
is needed. The fit then includes the smallest set of such parameters that is not significantly
worse.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from weft import _core
from weft.base.errors import WeftError, named
from weft.base.units import format_seconds, format_size
from weft.benchmarks.methods import METHODS, Method
from weft.calibrate.measurements.samples import Floats

if TYPE_CHECKING:
    from weft._core import Fabric

CONFIDENCE = 0.95
BASE, TURNAROUND, COPY_RATE, GAP = "base latency", "turnaround", "copy_rate", "gap"
# Largest factor, in ln, up to which a profile is followed in each direction; beyond it, the
# parameter counts as unbounded.
_FARTHEST = math.log(1000.0)
_FIRST_STEP = 0.01
_LEAST = 1e-9  # seconds
# Starting points: copy rate as a fraction of the line rate, and factors of the initial turnaround.
_SLOW = 0.4
_TURNAROUNDS = (0.5, 1.0, 2.0)


@dataclass(frozen=True)
class Hardware:
    """Known properties, read from a fabric."""

    slots: int
    payload_bytes: float
    packet_overhead_bytes: float
    line_rate_Bps: float  # noqa: N815 (as records and presets name it)
    aggregation_rate_Bps: float = math.inf  # noqa: N815
    packet_copy_rate_Bps: float = math.inf  # noqa: N815
    hosts_a_switch: int = 1
    """Largest number of hosts whose contributions one switch combines."""
    largest_bytes: float = math.inf
    """Smallest size whose cost the base sets in streaming_from or [[nic.calls]]; larger sizes are
    not fitted.
    """

    @property
    def window_bytes(self) -> float:
        """Bytes that can be in flight."""
        return self.slots * self.payload_bytes


@dataclass(frozen=True)
class Observations:
    """Rows of one table: bytes per rank, ranks per host, seconds."""

    name: str
    bytes: Floats
    ranks_a_host: Floats
    seconds: Floats
    hosts: Floats | None = None
    """Participating hosts; None means all hosts of the fabric."""
    longer_s: Floats | float = 0.0
    """Additional round-trip time of the tree over a single pipeline of a single switch."""
    entering_s: Floats | float = 0.0
    """Spread of the times at which the benchmark's ranks enter a call."""
    method: Method = METHODS["loop"]
    """Benchmark that timed the calls."""

    @cached_property
    def by_longer(self) -> "list[tuple[float, slice | NDArray[np.bool_]]]":
        """Rows grouped by `longer_s`; cached, as a fit evaluates the model thousands of times."""
        if np.ndim(self.longer_s) == 0:
            return [(float(self.longer_s), slice(None))]
        return [(float(one), self.longer_s == one) for one in np.unique(self.longer_s)]


@dataclass(frozen=True)
class Estimate:
    """One parameter in SI units, with its interval."""

    name: str
    value: float
    low: float
    high: float

    @property
    def determined(self) -> bool:
        """True if the data bound the parameter on both sides."""
        return self.low > 0 and math.isfinite(self.high)

    def text(self, value: float) -> str:
        """Format a value of this parameter with its unit."""
        if not math.isfinite(value):
            return "unlimited"
        return f"{value / 1e9:.3g} GB/s" if self.name == COPY_RATE else format_seconds(value)


@dataclass(frozen=True)
class SwitchFit:
    """Result of the fit."""

    estimates: tuple[Estimate, ...]
    missing: tuple[tuple[str, str], ...]
    """Parameters that affect no row, each with the reason."""
    written: Mapping[str, float]
    """Values for the fabric file: base values, determined parameters and indispensable parameters.
    """

    @property
    def needed(self) -> tuple[str, ...]:
        """Parameters that are written although undetermined."""
        return tuple(
            one.name for one in self.estimates if one.name in self.written and not one.determined
        )

    def estimate(self, name: str) -> Estimate | None:
        """Return a parameter; None if it affects no row."""
        return next((one for one in self.estimates if one.name == name), None)


def hardware_of(fabric: "Fabric") -> Hardware:
    """Return the properties of the smart switches and the slowest cable."""
    kinds = {
        (
            *(one["slots"], one["payload_bytes"], one["packet_overhead_bytes"]),
            *(one["aggregation_rate_Bps"], one["streaming_from_bytes"]),
        )
        for one in fabric.switches
        if one["smart"]
    }
    if len(kinds) != 1:
        has = "switches that reduce with different windows" if kinds else "no switch that reduces"
        raise WeftError(
            f"{named('base')}: {fabric.name} has {has}; the fit needs equal smart switches: name a"
            " fabric such as tofino-4 or hdr100-128"
        )
    slots, payload, overhead, aggregation_rate, streaming_from = kinds.pop()
    cables = fabric.cables()
    on_switch = Counter(one["upper"] for one in cables if one["lower"] < len(fabric.hosts))
    return Hardware(
        slots,
        payload,
        overhead,
        min(cable["bandwidth_Bps"] for cable in cables),
        aggregation_rate,
        fabric.nic["packet_copy_rate_Bps"],
        max(on_switch.values()),
        min([streaming_from, *(one["from_bytes"] for one in fabric.nic["calls"])]),
    )


def model_seconds(
    hardware: Hardware, rows: Observations, base: float, values: dict[str, float]
) -> Floats:
    """Return the times of a table's rows."""
    wire = rows.bytes + hardware.packet_overhead_bytes * np.ceil(
        rows.bytes / hardware.payload_bytes
    )
    hosts = hardware.hosts_a_switch if rows.hosts is None else rows.hosts
    contributions = np.minimum(hosts, hardware.hosts_a_switch) * rows.ranks_a_host
    busiest = np.maximum.reduce(
        [
            wire * rows.ranks_a_host / hardware.line_rate_Bps,
            rows.bytes / values.get(COPY_RATE, math.inf),
            rows.bytes * contributions / hardware.aggregation_rate_Bps,
        ]
    )
    streaming = np.empty_like(rows.bytes)
    for longer_s, at in rows.by_longer:
        streaming[at] = _core.streaming_time(
            hardware.slots,
            hardware.payload_bytes,
            hardware.packet_overhead_bytes,
            rows.bytes[at],
            wire[at] / busiest[at],
            values.get(TURNAROUND, 0.0) + longer_s,
        )
    copying = np.minimum(rows.bytes, hardware.payload_bytes) / hardware.packet_copy_rate_Bps
    waiting = (
        base + rows.longer_s + rows.entering_s + (rows.ranks_a_host - 1) * values.get(GAP, 0.0)
    )
    seconds: Floats = waiting + copying + streaming
    return seconds


class _Problem:
    """Vector of logarithmic parameters and its residuals."""

    def __init__(self, hardware: Hardware, tables: Sequence[Observations]) -> None:
        self.hardware = hardware
        self.tables = tables
        largest = max(float(table.bytes.max()) for table in tables)
        crowded = max(float(table.ranks_a_host.max()) for table in tables)
        least = [float(np.min(table.seconds - table.entering_s)) for table in tables]
        starts = {BASE: max(min(least), _LEAST)}
        self.missing: list[tuple[str, str]] = []
        if largest > hardware.window_bytes:
            starts[TURNAROUND] = 2 * hardware.window_bytes / hardware.line_rate_Bps
        else:
            self.missing.append((TURNAROUND, "no message exceeds the window"))
        starts[COPY_RATE] = hardware.line_rate_Bps
        if crowded > 1:
            starts[GAP] = 0.1 * starts[BASE]
        else:
            self.missing.append((GAP, "no row has several ranks per host"))
        self.names = list(starts)
        self.start = np.log(list(starts.values()))
        self.rows = sum(len(table.bytes) for table in tables)

    def seconds(self, logs: Floats) -> list[Floats]:
        values = dict(zip(self.names, np.exp(logs).tolist(), strict=True))
        return [model_seconds(self.hardware, table, values[BASE], values) for table in self.tables]

    def residuals(self, logs: Floats) -> Floats:
        pairs = zip(self.seconds(logs), self.tables, strict=True)
        return np.concatenate([np.log(model / table.seconds) for model, table in pairs])

    def best(self, start: Floats, fixed: Collection[int] = ()) -> tuple[Floats, float]:
        """Return the best parameters and their sum of squares, with some parameters held fixed."""
        from scipy.optimize import least_squares

        free = ~np.isin(np.arange(len(start)), list(fixed))

        def residuals(some: Floats) -> Floats:
            logs = start.copy()
            logs[free] = some
            return self.residuals(logs)

        if not free.any():
            return start, float((self.residuals(start) ** 2).sum())
        around = self.start[free]
        bounds = (around - _FARTHEST, around + _FARTHEST)
        found = least_squares(residuals, np.clip(start[free], *bounds), bounds=bounds, x_scale=0.1)
        logs = start.copy()
        logs[free] = found.x
        return logs, 2 * float(found.cost)


def fit(
    hardware: Hardware,
    tables: Sequence[Observations],
    base: Mapping[str, float] | None = None,
) -> SwitchFit:
    """Fit the parameters that affect the rows; `base` contains the values of those not written."""
    fitted = [_below(hardware.largest_bytes, table) for table in tables]
    problem = _Problem(hardware, fitted)
    if any(len(one.bytes) < len(table.bytes) for one, table in zip(fitted, tables, strict=True)):
        what = f"what calls of {format_size(hardware.largest_bytes)} and more cost"
        reason = "the base fabric says it in streaming_from or [[nic.calls]]"
        problem.missing.append((what, reason))
    logs, limit = _best_and_limit(problem)
    estimates = []
    for index, name in enumerate(problem.names):
        low, high = (_end(problem, logs, index, limit, side) for side in (-1, 1))
        estimates.append(Estimate(name, float(np.exp(logs[index])), low, high))
    written = _written(problem, estimates, logs, limit, base or {})
    return SwitchFit(tuple(estimates), tuple(problem.missing), written)


def _below(size: float, table: Observations) -> Observations:
    """Return the rows smaller than this size."""
    at = table.bytes < size
    if not at.any():
        raise WeftError(
            f"{named('base')}: all rows of {table.name} are of {format_size(size)} and more, whose"
            " costs the base fabric says in streaming_from or [[nic.calls]]; name a base without"
        )
    longer, entering = table.longer_s, table.entering_s
    return replace(
        table,
        bytes=table.bytes[at],
        ranks_a_host=table.ranks_a_host[at],
        seconds=table.seconds[at],
        hosts=None if table.hosts is None else table.hosts[at],
        longer_s=longer if isinstance(longer, float) else longer[at],
        entering_s=entering if isinstance(entering, float) else entering[at],
    )


# Values without effect, for parameters that the base fabric does not set.
_NOTHING = {TURNAROUND: 0.0, GAP: 0.0, COPY_RATE: math.inf}
# Bounds that keep logarithms finite.
_RANGE = (1e-15, 1e18)


def _written(
    problem: _Problem,
    estimates: Sequence[Estimate],
    logs: Floats,
    limit: float,
    base: Mapping[str, float],
) -> dict[str, float]:
    """Return the values with as few undetermined parameters as an equally good fit allows."""
    open_ = [index for index, one in enumerate(estimates) if not one.determined]
    open_ = [index for index in open_ if estimates[index].name in _NOTHING]
    for count in range(len(open_) + 1):
        found = []
        for kept in combinations(open_, count):
            left = [index for index in open_ if index not in kept]
            start = logs.copy()
            for index in left:
                name = estimates[index].name
                start[index] = math.log(np.clip(base.get(name, _NOTHING[name]), *_RANGE))
            best, squares = problem.best(start, left)
            found.append((squares, left, best))
        squares, left, best = min(found, key=lambda one: one[0])
        if squares <= limit:
            break
    values = np.exp(best)
    return {
        one.name: float(values[index]) for index, one in enumerate(estimates) if index not in left
    }


def _best_and_limit(problem: _Problem) -> tuple[Floats, float]:
    """Return the best parameters, and the largest sum of squares that is still credible."""
    from scipy.stats import f as f_distribution

    logs, squares = _global_best(problem)
    freedom = problem.rows - len(logs)
    level = 1 - (1 - CONFIDENCE) / len(logs)
    return logs, squares * (1 + float(f_distribution.ppf(level, 1, freedom)) / freedom)


def _global_best(problem: _Problem) -> tuple[Floats, float]:
    """Return the best fit over several starts.

    Either the copy rate or the turnaround limits large messages, and the other has no gradient
    there: from a single start the search may end beside the best fit, at a place that differs with
    the rounding of the processor's linear algebra.
    """
    copy_rate = problem.names.index(COPY_RATE)
    found = []
    for factor in (0.25, 0.5, 1.0, 100.0):
        start = problem.start.copy()
        start[copy_rate] += math.log(factor)
        if TURNAROUND not in problem.names:
            found.append(problem.best(start))
            continue
        turnaround = problem.names.index(TURNAROUND)
        for times in _TURNAROUNDS:
            start[turnaround] = problem.start[turnaround] + math.log(times)
            found.append(problem.best(start))
    return min(found, key=lambda one: one[1])


def _end(problem: _Problem, logs: Floats, index: int, limit: float, side: int) -> float:
    """Return where a parameter's profile exceeds the limit on one side; 0 or infinity if never."""
    from scipy.optimize import brentq

    excess = _profile(problem, logs, index, limit)
    near, far = 0.0, _FIRST_STEP
    while excess(side * far) < 0:
        if far > _FARTHEST:
            return 0.0 if side < 0 else math.inf
        near, far = far, 2 * far
    at = brentq(lambda step: excess(side * step), near, far, xtol=1e-4)
    return float(np.exp(logs[index] + side * at))


def _profile(problem: _Problem, logs: Floats, index: int, limit: float) -> Callable[[float], float]:
    copy_rate = problem.names.index(COPY_RATE)
    # Either parameter may limit the rate of large messages; the other parameter then has no
    # gradient.
    others = {copy_rate: [math.log(_SLOW)]}
    if TURNAROUND in problem.names:
        others[problem.names.index(TURNAROUND)] = [math.log(factor) for factor in _TURNAROUNDS]

    def excess(step: float) -> float:
        start = logs.copy()
        start[index] += step
        least = problem.best(start, (index,))[1]
        for other, factors in others.items():
            for factor in factors if other != index else ():
                if least > limit:
                    start[other] = problem.start[other] + factor
                    least = min(least, problem.best(start, (index,))[1])
        return least - limit

    return excess
