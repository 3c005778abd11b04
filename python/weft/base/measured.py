# SPDX-License-Identifier: LGPL-2.1-only
"""Tables of measurements, and the deviation of a simulation from them."""

import csv
import gzip
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from weft.base import paths
from weft.base.errors import WeftError

PAPER_ERROR = 0.10
"""Mean deviation that Belbeisi et al. report (CF '26, doi 10.1145/3801487.3801809, section 5.2)."""

OSU_4X1 = "tofino_osu_allreduce_4x1.csv"

Column = dict[int, float]
Key = TypeVar("Key")


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return a CSV file's rows by column; it may be gzipped, and lines with # are comments."""
    packed = path.suffix == ".gz"
    with (gzip.open if packed else open)(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def read_columns(name: str, key: str = "bytes") -> dict[str, Column]:
    """Return each column of a shipped table, keyed by the values of its first column."""
    path = paths.data(name)
    rows = read_rows(path)
    try:
        return {
            column: {int(row[key]): float(row[column]) for row in rows}
            for column in rows[0]
            if column != key
        }
    except (LookupError, ValueError, TypeError) as error:
        raise WeftError(f"data: {path} is no table of numbers by '{key}': {error}") from None


@dataclass(frozen=True)
class LogError:
    """Logarithmic errors as fractions: exp(mean |ln(simulated / real)|) - 1, and the largest."""

    mean: float
    worst: float


def log_error(simulated: Mapping[Key, float], real: Mapping[Key, float]) -> LogError:
    """Compare the entries for which both tables contain a value."""
    logs = list(_logs(simulated, real))
    return LogError(math.expm1(sum(logs) / len(logs)), math.expm1(max(logs)))


def _logs(simulated: Mapping[Key, float], real: Mapping[Key, float]) -> Iterable[float]:
    return (abs(math.log(simulated[key] / real[key])) for key in real if key in simulated)
