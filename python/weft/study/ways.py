# SPDX-License-Identifier: LGPL-2.1-only
"""Which way the calls of a benchmark went, beside the mode that was asked for.

A mode says what is asked for. Switches that cannot do a call leave it to the hosts; every table and
figure then names what was simulated: `binomial for stream`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from weft.base.errors import WeftError
from weft.runs.record import Record
from weft.runs.report import explain

_SMPI = {"smpi:only": "smpi"}  # SMPI has no choice of it


@dataclass(frozen=True)
class Way:
    """What was simulated in a mode."""

    path: str
    """What did it: a way to offload, an algorithm of the hosts, or `messages` where the benchmark
    writes the collective out; several with ` + ` between."""
    reason: str = ""
    """Why the hosts did what the switches were asked for; empty where they were not, or did it."""
    label: str = ""
    """The mode as tables name it."""
    message: str = ""
    """What the user is told of it; empty where all went as asked for."""


def way_taken(record: Record, mode: str, collectives: Collection[str], *, offloading: bool) -> Way:
    """Return which way these collectives went in a run."""
    rows = [row for row in record.collectives if row.collective in collectives]
    path = " + ".join(dict.fromkeys(_SMPI.get(row.way, row.way) for row in rows)) or "messages"
    fallen = [row for row in rows if not row.offloaded] if offloading else []
    if not fallen:
        return Way(path, label=mode)
    names = " and ".join(dict.fromkeys(row.collective for row in fallen))
    label = f"{path} for {mode}" if len(fallen) == len(rows) else f"{mode}, {names} by the hosts"
    why = "; ".join(dict.fromkeys(explain(row.reason, record) for row in fallen))
    by = ", ".join(dict.fromkeys(_SMPI.get(row.way, row.way) for row in fallen))
    message = f"{mode}: on {record.fabric.label} the hosts ({by}) did {names}, because {why}"
    return Way(path, " + ".join(dict.fromkeys(row.reason for row in fallen)), label, message)


class WentAWay:
    """What a row of a benchmark says of the way that its calls went; part of its class."""

    way: Way

    @property
    def path(self) -> str:
        """What did it."""
        return self.way.path

    @property
    def reason(self) -> str:
        """Why the hosts did what the switches were asked for."""
        return self.way.reason


class Benched(Protocol):
    """A row of a benchmark."""

    @property
    def mode(self) -> str:
        """What was asked for."""

    @property
    def way(self) -> Way:
        """What was simulated."""


def labels(rows: Sequence[Benched], mode: str) -> str:
    """Return how figures and the heads of columns name a mode of which all rows are known."""
    own = list(dict.fromkeys(row.way.label for row in rows if row.mode == mode))
    return " or ".join(own) or mode


def messages(rows: Sequence[Benched]) -> list[str]:
    """Return what the user is told of all modes that fell back, each once."""
    return list(dict.fromkeys(row.way.message for row in rows if row.way.message))


def check_as_asked(rows: Sequence[Benched], who: str) -> None:
    """Prove that every mode was simulated, where labels are fixed; else it is an error."""
    if said := messages(rows):
        raise WeftError(f"{who}: {said[0]}; it compares what is offloaded with measurements")
