# SPDX-License-Identifier: LGPL-2.1-only
"""Strict reading of TOML files: every key is known and typed, and errors name the key.

Readers declare the keys of a table as `Key`s, from which documents, schemas and errors are derived.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NoReturn

from weft import _core
from weft.base.errors import WeftError, printable, suggestion
from weft.base.units import QUANTITY

# Unit factors: bandwidths in bits/s, durations in seconds.
_BANDWIDTHS = {
    name: factor * 8 for name, factor in _core.units()["bandwidth"] if name.endswith("bps")
}
_DURATIONS = dict(_core.units()["duration"])
_SIZES = dict(_core.units()["size"])
_ZERO = re.compile(r"0+(?:\.0*)? ?[A-Za-z]*")
_PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,12})?) ?%")
_RANGE = re.compile(r"\[(\d{1,6})-(\d{1,6})\]")
_MOST = 4096


@dataclass(frozen=True)
class Kind:
    """Type of a key's values, as used in documents and schemas."""

    name: str
    least: float | None = None
    most: float | None = None
    words: tuple[str, ...] = ()
    """Allowed texts; empty if any is allowed."""


TEXT, TEXTS, TEXT_OR_TEXTS = Kind("text"), Kind("texts"), Kind("text or texts")
TABLE_OF_TEXTS = Kind("table of texts")
TRUTH = Kind("truth")
WHOLE, COUNT, NUMBER = Kind("integer", least=0), Kind("integer", least=1), Kind("number", least=0)
WEIGHT = Kind("number", least=0.001, most=1000)
PERCENT, TIME, BYTES = Kind("percentage"), Kind("time"), Kind("size")


def one_of(words: Sequence[str]) -> Kind:
    """Return the kind for keys whose value is one of these words."""
    return Kind("text", words=tuple(words))


def number(least: float, most: float) -> Kind:
    """Return the kind for numbers within bounds."""
    return Kind("number", least=least, most=most)


@dataclass(frozen=True)
class Key:
    """Key of a table."""

    meaning: str
    """Meaning in Markdown, with the default."""
    kind: Kind


def parse(text: str, source: str) -> "Options":
    """Return the top-level table of a TOML text."""
    try:
        return Options(source, "", tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise WeftError(f"{source}: invalid TOML: {printable(str(error))}") from None
    except (RecursionError, ValueError):
        raise WeftError(
            f"{source}: invalid TOML: nested too deeply, or too long a number"
        ) from None


def value_of(text: str) -> Any:
    """Parse a TOML value set from outside a file; the quotes of strings may be omitted."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


@dataclass(frozen=True)
class Options:
    """Table of the file."""

    source: str
    table: str
    values: Mapping[str, Any]

    def fail(self, key: str, problem: str) -> NoReturn:
        """Raise an error about a key of this table."""
        place = f"[{self.table}] {key}" if key and self.table else f"[{self.table or key}]"
        raise WeftError(f"{self.source}: {place}: {problem}")

    def allow(self, *keys: str) -> "Options":
        """Refuse any other key."""
        for key in self.values:
            if key not in keys:
                self.fail(key, f"no such key; {suggestion(key, keys)}")
        return self

    def need(self, key: str) -> Any:
        """Return a required value."""
        if key not in self.values:
            self.fail(key, "is missing, but required")
        return self.values[key]

    def part(self, key: str) -> "Options":
        """Return a nested table."""
        value = self.need(key)
        if not isinstance(value, dict):
            self.fail(key, f"found {value!r}; write a table, [{key}]")
        return Options(self.source, key, value)

    def parts(self, key: str) -> "Iterator[Options]":
        """Yield the tables of an array of tables; none if it is absent."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            self.fail(key, f"write [[{key}]] tables")
        for one in value:
            yield Options(self.source, f"[{key}]", one)

    def text(self, key: str, default: str | None = None) -> str:
        """Return a non-empty text."""
        value = self.need(key) if default is None else self.values.get(key, default)
        if not isinstance(value, str) or (not value and default is None):
            self.fail(key, f"found {value!r}; write a text")
        if any(one != " " and not one.isprintable() and one != "\n" for one in value):
            self.fail(key, f"found {value!r}; write a text without control characters")
        return value

    def integer(self, key: str, least: int, most: int, default: int | None = None) -> int:
        """Return an integer within bounds."""
        value = self.need(key) if default is None else self.values.get(key, default)
        if type(value) is not int or not least <= value <= most:
            self.fail(key, f"found {value!r}; allowed is a whole number from {least} to {most}")
        return value

    def number(self, key: str, least: float, most: float, default: float) -> float:
        """Return a number within bounds."""
        value = self.values.get(key, default)
        if type(value) not in (int, float) or not least <= value <= most:
            self.fail(key, f"found {value!r}; allowed is a number from {least:g} to {most:g}")
        return float(value)

    def choice(self, key: str, allowed: Sequence[str], default: str) -> str:
        """Return one of the allowed words."""
        value = self.values.get(key, default)
        if value not in allowed:
            self.fail(key, f"found {value!r}; allowed are {', '.join(allowed)}")
        return str(value)

    def truth(self, key: str, *, default: bool) -> bool:
        """Return a boolean."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            self.fail(key, f"found {value!r}; write true or false")
        return value

    def texts(self, key: str) -> list[str]:
        """Return a list of texts with ranges expanded; empty if absent."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
            self.fail(key, f'found {value!r}; write a list of texts, such as ["a", "b"]')
        return [name for one in value for name in self.expand(key, one)]

    def expand(self, key: str, text: str) -> list[str]:
        """Return `node-1`, `node-2` … of `node-[1-4]`."""
        sizes = [int(last) - int(first) + 1 for first, last in _RANGE.findall(text)]
        if len(sizes) > 1 and prod(sizes) > _MOST:
            self.fail(key, f"found {text!r}; ranges may name at most {_MOST} things in total")
        match = _RANGE.search(text)
        if match is None:
            return [text]
        first, last = int(match[1]), int(match[2])
        if not first <= last < first + _MOST:
            self.fail(
                key, f"found {text!r}; a range must increase and have at most {_MOST} numbers"
            )
        start, end = text[: match.start()], text[match.end() :]
        return [
            name for k in range(first, last + 1) for name in self.expand(key, f"{start}{k}{end}")
        ]

    def bandwidth(self, key: str, default: str | None = None) -> int:
        """Return a bandwidth in bits/s."""
        return round(self._quantity(key, _BANDWIDTHS, "100Gbps", default))

    def duration(self, key: str, default: str | None = None) -> float:
        """Return a duration in nanoseconds."""
        return round(self._quantity(key, _DURATIONS, "495.5ns", default) * 1e9, 6)

    def seconds(self, key: str, default: float | None = None) -> float:
        """Return a duration, which may be zero, in seconds."""
        if key not in self.values and default is not None:
            return default
        value = self.need(key)
        if (type(value) is int and value == 0) or (
            isinstance(value, str) and _ZERO.fullmatch(value)
        ):
            return 0.0
        return self.duration(key) / 1e9

    def size(self, key: str, default: str, *, least: int = 1) -> int:
        """Return a size in bytes."""
        value = self.values.get(key, default)
        if least == 0 and isinstance(value, str) and _ZERO.fullmatch(value):
            return 0
        size = round(self._quantity(key, _SIZES, "64KiB", default))
        if size < least:
            self.fail(key, f'found {value!r}; write a size of at least {least} B, such as "64KiB"')
        return size

    def percentage(self, key: str, default: float | None, example: str, *, whole: bool) -> float:
        """Return a fraction written as a percentage above 0 and below 100 (`whole`: up to 100)."""
        if key not in self.values and default is not None:
            return default
        value = self.need(key)
        match = _PERCENT.fullmatch(value) if isinstance(value, str) else None
        part = float(match[1]) / 100 if match else 0.0
        if not 0 < part < 1 and not (whole and part == 1):
            most = "of up to" if whole else "below"
            self.fail(
                key, f'found {value!r}; write a part {most} 100 per cent, such as "{example}"'
            )
        return part

    def _quantity(
        self, key: str, units: Mapping[str, float], example: str, default: str | None
    ) -> float:
        value = self.need(key) if default is None else self.values.get(key, default)
        match = QUANTITY.fullmatch(value) if isinstance(value, str) else None
        if match is None or match[2] not in units or not 0 < float(match[1]) < 1e15:
            self.fail(
                key,
                f"found {value!r}; write a text with one of the units {', '.join(units)},"
                f' more than 0, such as "{example}"',
            )
        return float(match[1]) * units[match[2]]


@dataclass(frozen=True)
class Entry(Options):
    """Table of an array of tables. Errors begin with `FILE: [[ARRAY]] TABLE: KEY`."""

    array: str

    def fail(self, key: str, problem: str) -> NoReturn:
        """Raise an error about a key of this table."""
        raise self.error(key, problem)

    def error(self, key: str, problem: str) -> WeftError:
        """Return the error about a key of this table."""
        return WeftError(f"{self.source}: [[{self.array}]] {self.table}: {key}: {problem}")
