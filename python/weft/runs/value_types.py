# SPDX-License-Identifier: LGPL-2.1-only
"""Option types: the values that each type accepts.

The command line, the API and campaign files each map a kind to their own parser.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Count:
    """Integer within bounds."""

    least: int
    most: int | None = None


@dataclass(frozen=True)
class Probability:
    """Number from 0 to 1."""


@dataclass(frozen=True)
class Seconds:
    """Positive duration in seconds."""


@dataclass(frozen=True)
class Size:
    """Size in bytes, such as 2GiB."""


@dataclass(frozen=True)
class Choice:
    """One of several words."""

    words: Sequence[str]


@dataclass(frozen=True)
class Switch:
    """Boolean; the flag sets the value that is not the default."""


@dataclass(frozen=True)
class Text:
    """Text that the run's checks parse."""


@dataclass(frozen=True)
class FabricName:
    """Fabric file, or name of a shipped fabric."""


@dataclass(frozen=True)
class Algorithms:
    """Host algorithms, by name or in a file."""


@dataclass(frozen=True)
class Changes:
    """Keys of fabric files with values, each as TABLE.KEY=VALUE."""


@dataclass(frozen=True)
class Settings:
    """SimGrid options with values, each as KEY:VALUE."""


@dataclass(frozen=True)
class InputFile:
    """File that the run reads."""


@dataclass(frozen=True)
class OutputFile:
    """File that the run writes."""


@dataclass(frozen=True)
class Directory:
    """Directory that the run reads and writes; created if missing."""


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
