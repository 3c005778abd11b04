# SPDX-License-Identifier: LGPL-2.1-only
"""Keys of fabric files that a search can fit: name, bounds and unit.

Everything but the bounds comes from the schema of fabric files, so new keys can be fitted at once.
"""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft import _core
from weft.base.errors import WeftError, named, suggestion
from weft.fabric.toml_file import SourcedValue, in_toml, with_values

if TYPE_CHECKING:
    from weft._core import Fabric, Option

_UNITS = {"bandwidth": "Bps", "duration": "s", "size": "B", "speed": "f", "frequency": "Hz"}
# Default search bounds by type.
_BOUNDS = {
    "bandwidth": (1e8, 2e12),
    "duration": (1e-8, 1e-4),
    "size": (1e6, 1e9),
    "speed": (1e8, 1e13),
    "frequency": (1e8, 1e11),
    "number": (1e-3, 1e3),
    "integer": (1.0, 1e6),
}
# Suffixes of keys of these types in the record of a fabric.
_SUFFIXES = {"bandwidth": "_Bps", "duration": "_s", "size": "_bytes", "speed": "_flops"}

# The host: shared resources, copy and reduction rates of a core, cost of a message within it, and
# the size above which the MPI library stops copying.
DEFAULT_KEYS = (
    *("host.loopback_latency", "host.loopback_bandwidth", "host.memory_bandwidth"),
    *("host.single_copy_threshold", "host.cache_size", "host.message_overhead", "host.copy_rate"),
    *("host.piece_overhead", "host.reduction_rate", "host.shared_cache_rate"),
    *("host.core_memory_rate", "mpi.eager_threshold"),
)
# In addition, if the hosts of the base have sockets.
SOCKET_KEYS = ("host.intersocket_latency", "host.intersocket_rate", "host.shared_cache_bandwidth")
# Default start of a search: the order of magnitude of current servers.
_USUAL = {
    "host.loopback_latency": 2e-7,
    "host.loopback_bandwidth": 5e9,
    "host.memory_bandwidth": 3e10,
    "host.cache_size": 3.2e7,
    "host.message_overhead": 1e-7,
    "host.copy_rate": 3e9,
    "host.piece_overhead": 5e-8,
    "host.reduction_rate": 3e9,
    "host.shared_cache_rate": 1e10,
    "host.core_memory_rate": 3e9,
    "host.single_copy_threshold": 65536.0,
    "host.intersocket_latency": 5e-8,
    "host.intersocket_rate": 5e10,
    "host.shared_cache_bandwidth": 4e10,
}
# Range of sizes at which a library switches protocols; the candidates are powers of two.
_THRESHOLD = "_threshold"
_THRESHOLDS = (256.0, float(1 << 22))


@dataclass(frozen=True)
class Key:
    """One key; a value is a number in the type's unit, or an index of `names`."""

    table: str
    name: str
    type: str
    low: float
    high: float
    names: tuple[str, ...] = ()

    @property
    def usual(self) -> float:
        """Starting point of a search."""
        return _USUAL.get(self.text, math.sqrt(self.low * self.high))

    @property
    def steps(self) -> tuple[float, ...]:
        """Discrete values that a search tries in turn; empty for a continuous key."""
        if self.names:
            return tuple(float(one) for one in range(len(self.names)))
        if not self.name.endswith(_THRESHOLD):
            return ()
        powers = range(math.ceil(math.log2(self.low)), math.floor(math.log2(self.high)) + 1)
        return tuple(float(1 << power) for power in powers)

    @property
    def text(self) -> str:
        """Name of the key in options and tables."""
        return f"{self.table}.{self.name}"

    def toml(self, value: float) -> str | int | float:
        """Return a value in the notation of fabric files."""
        if self.names:
            return self.names[int(value)]
        if self.type in ("size", "integer"):
            whole = round(value)
            return f"{whole}B" if self.type == "size" else whole
        return f"{value:.4g}{_UNITS[self.type]}" if self.type in _UNITS else float(f"{value:.4g}")


def find_keys(texts: Sequence[str], base: str | None = None) -> list[Key]:
    """Return the keys named as `TABLE.KEY` or `TABLE.KEY=LOW:HIGH`; the defaults if none are."""
    known = _options()
    if not texts:
        sockets = base is not None and _core.load_fabric(base).host["sockets"] > 0
        names = (*DEFAULT_KEYS, *(SOCKET_KEYS if sockets else ()))
        return [_key(name, known[name]) for name in names if name in known]
    keys = []
    for text in texts:
        name, has_bounds, bounds = text.partition("=")
        if name not in known:
            raise WeftError(
                f"{named('key')}: found {name}, which cannot be fitted;"
                f" {suggestion(name, list(known))}"
            )
        key = _key(name, known[name])
        keys.append(_bounded(key, bounds) if has_bounds else key)
    return keys


def _options() -> dict[str, "Option"]:
    """Return all keys that a search can set, of tables that occur once per file."""
    return {
        f"{table['table']}.{option['key']}": option
        for table in _core.fabric_schema()
        if table["table"] in ("host", "nic", "link", "mpi")
        for option in table["options"]
        if option["type"] in _BOUNDS or option["names"]
    }


def _key(name: str, option: "Option") -> Key:
    table, _, key = name.rpartition(".")
    low, high = _BOUNDS.get(option["type"], (0.0, 0.0))
    if key.endswith(_THRESHOLD):
        low, high = _THRESHOLDS
    return Key(table, key, option["type"], low, high, tuple(option["names"]))


def _bounded(key: Key, text: str) -> Key:
    unit = _UNITS.get(key.type, "")
    values = []
    for part in text.split(":"):
        number = part.removesuffix(unit)
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        values.append(value)
    if key.names or len(values) != 2 or not 0 < values[0] < values[1] < math.inf:
        raise WeftError(
            f"{named('key')}: found {key.text}={text}; allowed is {key.text}=LOW:HIGH, two"
            f" increasing numbers{f' with the unit {unit} or without' if unit else ''}; names have"
            " no bounds"
        )
    return Key(key.table, key.name, key.type, values[0], values[1])


def value_in(fabric: "Fabric", key: Key) -> float | None:
    """Return a key's value in a fabric; None if it is unlimited or absent."""
    rows: Mapping[str, Any] = {
        "host": fabric.host,
        "nic": fabric.nic,
        "mpi": fabric.mpi or {},
    }.get(key.table, {})
    value = rows.get(key.name + _SUFFIXES.get(key.type, ""))
    if key.names:
        return float(key.names.index(value)) if value in key.names else None
    return value if isinstance(value, int | float) and 0 < value < math.inf else None


def is_stated(fabric: "Fabric", key: Key) -> bool:
    """Return True if the fabric's file, or a preset that it names, sets the key explicitly."""
    table = tomllib.loads(Path(fabric.file).read_text(encoding="utf-8")).get(key.table, {})
    return key.name in table or "preset" in table


class Template:
    """Fabric text that is parsed once and filled with many sets of values."""

    def __init__(self, fabric: "Fabric", keys: Sequence[Key]) -> None:
        """Set each key to a placeholder."""
        self._keys = tuple(keys)
        self._text = _with_values(fabric, {key: SourcedValue(_placeholder(key)) for key in keys})

    def text(self, values: Sequence[float]) -> str:
        """Return the text with a value for each key."""
        text = self._text
        for key, value in zip(self._keys, values, strict=True):
            text = text.replace(in_toml(_placeholder(key)), in_toml(key.toml(value)))
        return text


def _placeholder(key: Key) -> str:
    return f"<{key.text}>"


def with_keys(fabric: "Fabric", values: Mapping[Key, float], notes: Mapping[Key, str]) -> str:
    """Return a fabric's text with these values, each with a note."""
    return _with_values(
        fabric,
        {key: SourcedValue(key.toml(value), notes.get(key, "")) for key, value in values.items()},
    )


def _with_values(fabric: "Fabric", values: Mapping[Key, SourcedValue]) -> str:
    text = Path(fabric.file).read_text(encoding="utf-8")
    tables: dict[str, dict[str, SourcedValue]] = {}
    for key, noted in values.items():
        tables.setdefault(key.table, {})[key.name] = noted
    for table, found in tables.items():
        text = with_values(text, table, found)
    return text
