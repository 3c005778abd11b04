# SPDX-License-Identifier: LGPL-2.1-only
"""Gain from offloading, simulated and measured, for tables with measurements of both sides.

`[[gain]]` of data/checks.toml names a table, its column of switch times and its column of host
times. The factor is host time divided by switch time: above 1, offloading is faster.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from msgspec import field

from weft.base import paths
from weft.base.errors import WeftError
from weft.base.measured import LogError, log_error
from weft.base.models import Model, Number, Whole
from weft.base.units import format_size
from weft.base.user_files import UnreadableError, read_toml
from weft.study.validation.validate import CHECKS, RATE

NEAR = 0.1
"""Largest distance from 1 at which a measured factor is near 1, so that its sign may be wrong."""


class Gain(Model):
    """Pairs of measurements in one table."""

    table: str
    offloaded: str
    """Column of switch times."""
    hosts: str
    """Column of host times."""
    fabric: str
    fallback: str
    """Host algorithms in the simulation, as for --fallback."""
    mode: str = "stream"
    hosts_fabric: str | None = None
    """Fabric of the run without offload, if it differs."""
    collective: str = "allreduce"
    rows: dict[str, Whole] = field(default_factory=dict)
    """Required values of other columns."""
    least: Whole = 0
    most: Whole | None = None
    """Range of sizes in bytes."""
    bytes: Whole | None = None
    """Message size, for tables by ranks."""
    ranks: Whole = 4
    ppn: Whole = 1
    settings: tuple[str, ...] = ()
    """SimGrid settings, each as KEY:VALUE."""
    changes: tuple[str, ...] = ()
    """Changes to the fabric files, each as TABLE.KEY=VALUE."""
    mean: Number | None = None
    """Upper bound of the mean error of the factor."""
    unfitted: bool = False
    """True if no fabric value was fitted to this machine."""
    wrong: Whole | None = None
    """Maximum number of pairs with the wrong sign whose measured factor is not near 1."""

    @property
    def stem(self) -> str:
        """File name of the table without extension."""
        return Path(self.table).stem

    @property
    def against(self) -> str:
        """Columns compared: switches against hosts."""
        return f"{_plain(self.offloaded)} against {_plain(self.hosts)}"

    @property
    def where(self) -> str:
        """Modes and fabrics of the simulation."""
        hosts = f" ({self.hosts_fabric})" if self.hosts_fabric else ""
        return f"{self.mode}, {self.fabric}; {self.fallback}{hosts}"

    @property
    def name(self) -> str:
        """Label of the pairs in tables."""
        selected = "".join(f", {value} {key}" for key, value in self.rows.items())
        return f"{self.stem}{selected}: {self.against}"


@dataclass(frozen=True)
class Times:
    """Microseconds of one call."""

    offloaded_us: float
    hosts_us: float

    @property
    def factor(self) -> float:
        """Speed-up from offloading: host time divided by switch time."""
        return self.hosts_us / self.offloaded_us


@dataclass(frozen=True)
class Pair:
    """Measured and simulated times of one row, keyed by bytes or ranks."""

    key: int
    bytes: int
    ranks: int
    ppn: int
    measured: Times
    simulated: Times
    width: float
    """Factor, in ln, by which the gain may be off, as reported to users."""
    unseen_width: float
    """The same factor without the measurements of this very call; on machines without fitted
    values, without its whole table."""

    @property
    def inside(self) -> bool:
        """True if the interval without the call's own measurement contains the measured factor."""
        return abs(math.log(self.measured.factor / self.simulated.factor)) <= self.unseen_width

    @property
    def tells(self) -> bool:
        """True if this interval does not contain 1."""
        return abs(math.log(self.simulated.factor)) > self.unseen_width

    @property
    def near(self) -> bool:
        """True if the measured times are within `NEAR` of each other."""
        return abs(self.measured.factor - 1) <= NEAR

    @property
    def right(self) -> bool:
        """True if simulation and measurement agree on the faster side."""
        return (self.measured.factor > 1) == (self.simulated.factor > 1)


@dataclass(frozen=True)
class GainResult:
    """Pairs of a table and their results."""

    gain: Gain
    by: Literal["bytes", "ranks"]
    pairs: tuple[Pair, ...]

    @property
    def measured(self) -> dict[int, float]:
        """Measured factors by row."""
        return {pair.key: pair.measured.factor for pair in self.pairs}

    @property
    def simulated(self) -> dict[int, float]:
        """Simulated factors by row."""
        return {pair.key: pair.simulated.factor for pair in self.pairs}

    @property
    def error(self) -> LogError:
        """Logarithmic error of the simulated factors."""
        return log_error(self.simulated, self.measured)

    @property
    def wrong(self) -> list[Pair]:
        """Pairs with the wrong sign whose measured factor is not near 1."""
        return [pair for pair in self.pairs if not pair.right and not pair.near]

    @property
    def wrong_near(self) -> list[Pair]:
        """Pairs with the wrong sign whose measured factor is near 1."""
        return [pair for pair in self.pairs if not pair.right and pair.near]

    @property
    def holds(self) -> bool:
        """True if all results are within their bounds."""
        mean, wrong = self.gain.mean, self.gain.wrong
        return (mean is None or self.error.mean <= mean) and (
            wrong is None or len(self.wrong) <= wrong
        )

    def crossings(self, factors: Mapping[int, float]) -> str:
        """Return where offloading becomes faster or slower, in words."""
        texts = [
            f"{'faster' if rises else 'slower'} from {self._amount(at)}"
            for at, rises in crossings(factors)
        ]
        if not texts:
            return "always faster" if next(iter(factors.values())) > 1 else "never faster"
        return ", ".join(texts)

    def _amount(self, at: float) -> str:
        return _rounded_size(at) if self.by == "bytes" else f"{math.ceil(at)} ranks"

    def to_json(self) -> dict[str, Any]:
        """Return the content of `--json`."""
        return {
            **self.gain.to_json(),
            "by": self.by,
            "mean_error": self.error.mean,
            "worst_error": self.error.worst,
            "wrong_signs": [pair.key for pair in self.wrong],
            "wrong_signs_near_equality": [pair.key for pair in self.wrong_near],
            "measured_crossings": [at for at, _ in crossings(self.measured)],
            "simulated_crossings": [at for at, _ in crossings(self.simulated)],
            "holds": self.holds,
            "pairs": [
                {
                    **asdict(pair),
                    "measured_factor": pair.measured.factor,
                    "simulated_factor": pair.simulated.factor,
                }
                for pair in self.pairs
            ],
        }


def crossings(factors: Mapping[int, float]) -> list[tuple[float, bool]]:
    """Return where a factor crosses 1, interpolated linearly in logarithms between rows.

    Each crossing is paired with True if the factor rises.
    """
    rows = sorted((key, math.log(factor)) for key, factor in factors.items())
    found = []
    for (low, before), (high, after) in pairwise(rows):
        if (before > 0) != (after > 0):
            share = before / (before - after)
            found.append(
                (math.exp(math.log(low) * (1 - share) + math.log(high) * share), after > 0)
            )
    return found


def _rounded_size(size: float) -> str:
    """Round a size to two digits."""
    unit = 1 << (10 * max(0, min(3, int(math.log2(size) // 10))))
    return f"{float(f'{size / unit:.2g}'):g} {format_size(unit).split()[1]}"


def _plain(column: str) -> str:
    return column.removesuffix("_us").removesuffix(RATE)


def read_gains(path: Path | None = None) -> list[Gain]:
    """Read the pairs shipped with weft, or the pairs in another file."""
    path = path or paths.data(CHECKS)
    try:
        rows = _Gains.from_json(read_toml(path)).gain
    except UnreadableError as error:
        raise WeftError(f"{path}: {error}") from None
    return [_gain(f"{path}: gain {number}", row) for number, row in enumerate(rows, 1)]


class _Gains(Model):
    gain: list[dict[str, Any]] = field(default_factory=list)


def _gain(place: str, row: dict[str, Any]) -> Gain:
    if wrong := sorted(set(row) - set(Gain.__struct_fields__)):
        raise WeftError(f"{place}: unknown key '{wrong[0]}'")
    try:
        return Gain.from_json(row)
    except UnreadableError as error:
        raise WeftError(f"{place}: {error}") from None
