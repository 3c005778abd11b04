# SPDX-License-Identifier: LGPL-2.1-only
"""Kinds of options: which values one takes.

The command line, the API and campaign files each map a kind to what they parse it with.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Count:
    """A whole number within bounds."""

    least: int
    most: int | None = None


@dataclass(frozen=True)
class Probability:
    """A number from 0 to 1."""


@dataclass(frozen=True)
class Seconds:
    """A duration in seconds, more than 0."""


@dataclass(frozen=True)
class Size:
    """A size in bytes, such as 2GiB."""


@dataclass(frozen=True)
class Choice:
    """One of some words."""

    words: Sequence[str]


@dataclass(frozen=True)
class Switch:
    """True, which is the default, or False."""


@dataclass(frozen=True)
class Text:
    """A text that the run's checks parse."""


@dataclass(frozen=True)
class FabricName:
    """A fabric file, or the name of a shipped fabric."""


@dataclass(frozen=True)
class Algorithms:
    """Algorithms of the hosts, by their names or a file."""


@dataclass(frozen=True)
class Changes:
    """Keys of fabric files with values, TABLE.KEY=VALUE each."""


@dataclass(frozen=True)
class Settings:
    """Options of SimGrid with values, KEY:VALUE each."""


@dataclass(frozen=True)
class InputFile:
    """A file that the run reads."""


@dataclass(frozen=True)
class OutputFile:
    """A file that the run writes."""


Kind = (
    Count
    | Probability
    | Seconds
    | Size
    | Choice
    | Switch
    | Text
    | FabricName
    | Algorithms
    | Changes
    | Settings
    | InputFile
    | OutputFile
)
