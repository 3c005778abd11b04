# SPDX-License-Identifier: LGPL-2.1-only
"""Kinds of options: the values that each one accepts.

The command line, the API and campaign files each map a kind to their own parser.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Count:
    """An integer within bounds."""

    least: int
    most: int | None = None


@dataclass(frozen=True)
class Probability:
    """A number from 0 to 1."""


@dataclass(frozen=True)
class Seconds:
    """A positive duration in seconds."""


@dataclass(frozen=True)
class Size:
    """A size in bytes, such as 2GiB."""


@dataclass(frozen=True)
class Choice:
    """One of several words."""

    words: Sequence[str]


@dataclass(frozen=True)
class Switch:
    """A boolean; its flag is for the value that is not the default."""


@dataclass(frozen=True)
class Text:
    """Text that the run's checks parse."""


@dataclass(frozen=True)
class FabricName:
    """A fabric file, or the name of a shipped fabric."""


@dataclass(frozen=True)
class Algorithms:
    """Algorithms of the hosts, by name or in a file."""


@dataclass(frozen=True)
class Changes:
    """Keys of fabric files with values, each TABLE.KEY=VALUE."""


@dataclass(frozen=True)
class Settings:
    """SimGrid options with values, each KEY:VALUE."""


@dataclass(frozen=True)
class InputFile:
    """A file that the run reads."""


@dataclass(frozen=True)
class OutputFile:
    """A file that the run writes."""


@dataclass(frozen=True)
class Directory:
    """A directory that the run reads and writes; made if it does not exist."""


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
    | Directory
)
