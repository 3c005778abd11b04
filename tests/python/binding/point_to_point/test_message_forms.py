# SPDX-License-Identifier: LGPL-2.1-only
"""One message in each form of send and receive, compared with closed forms (docs/models.md)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support import fabrics
from tests.support.simulated import Run

EAGER_BELOW = 65536
POLL = 1e-7
ROUNDING = 2e-12
"""Rounding of printed times, 1e-12 s."""

MPI = f"""
[mpi]
eager_threshold = "{EAGER_BELOW}B"
send_overhead = "1us"
send_copy_rate = "2GBps"
receive_overhead = "3us"
receive_copy_rate = "4GBps"
"""
POLLED = ("Test", "status", "Iprobe", "Improbe", "Parrived")


def latency(size: int) -> float:
    """Return the time on the links of star-8, whose routes have two cables and a switch."""
    factor = 0.9902 if size < EAGER_BELOW else 2.9814
    return factor * (2 * 0.94e-6 + 495.5e-9) + (size + 16) / (0.961934 * 100e9 / 8)


@dataclass(frozen=True)
class Side:
    """Start and end of one rank's part of a case."""

    case: str
    start: float
    end: float


@dataclass(frozen=True)
class Case:
    """A message, with the times of its sender and receiver."""

    sent: Side
    received: Side

    @property
    def form(self) -> str:
        return self.sent.case.split("/", maxsplit=1)[0]

    @property
    def size(self) -> int:
        return int(self.sent.case.split()[2])

    @property
    def is_polled(self) -> bool:
        return any(word in self.sent.case for word in POLLED)

    def expected(self) -> tuple[float, float]:
        """Return the end times of sender and receiver."""
        small = self.size < EAGER_BELOW
        partitioned = self.form.startswith("P")
        buffered = "bsend" in self.form.lower()
        synchronous = "ssend" in self.form.lower()
        copied = not partitioned and not synchronous and (small or buffered)
        # Blocking and persistent sends that wait for the receiver do not occupy their core (SMPI).
        pays = copied or partitioned or synchronous or self.form.startswith("I")
        sending = (1e-6 if pays else 0.0) + (self.size / 2e9 if small else 0.0)
        receiving = 3e-6 + (self.size / 4e9 if small else 0.0) if copied else 0.0
        ready = self.sent.start + sending
        left = ready if small and copied else max(ready, self.received.start)
        arrived = left + latency(self.size)
        received = max(arrived, self.received.start) + receiving
        return ready if copied else arrived, received


def cases(lines: list[str]) -> Iterator[Case]:
    sides = {"sent": list[Side](), "received": list[Side]()}
    for line in lines:
        words = line.split()
        sides[words[0]].append(Side(" ".join(words[1:5]), float(words[5]), float(words[6])))
    by_time = [sorted(sides[name], key=lambda side: side.start) for name in ("sent", "received")]
    for sent, received in zip(*by_time, strict=True):
        assert sent.case == received.case
        yield Case(sent, received)


@pytest.mark.parametrize("others", [0, 1])
@pytest.mark.parametrize(
    ("source", "number"), [("message_forms.c", 292), ("message_forms.f90", 76)]
)
def test_all_forms_take_their_closed_forms(
    run: Run, source: str, number: int, others: int, tmp_path: Path
) -> None:
    """Neither another rank that polls nor the order of the cases makes a difference."""
    fabric = fabrics.with_free_hosts(tmp_path, "star-8")
    fabric.write_text(fabric.read_text(encoding="utf-8") + MPI, encoding="utf-8")
    found = list(cases(run(source, on=str(fabric), ranks=2 + others).lines))
    assert len(found) == number
    for case in found:
        slack = (POLL if case.is_polled else 0.0) + ROUNDING
        for side, expected in zip((case.sent, case.received), case.expected(), strict=True):
            assert -ROUNDING <= side.end - expected <= slack, case
    assert all(a.sent.start < b.sent.start for a, b in pairwise(found))
