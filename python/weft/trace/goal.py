# SPDX-License-Identifier: LGPL-2.1-only
"""Schedules in GOAL, the language of LogGOPSim and ATLAHS, in its text form.

    num_ranks 2
    rank 0 {
    l1: calc 100 cpu 1
    l2: send 10b to 1 tag 5
    l2 requires l1
    }

`calc` is followed by nanoseconds, `send` and `recv` by bytes. `requires` waits for the end of an
operation, `irequires` for its start (T. Hoefler, C. Siebert, A. Lumsdaine, ICPP 2009).
"""

import re
from dataclasses import dataclass, field

MOST_RANKS = 1 << 20

_NUMBER_OF_RANKS = re.compile(r"num_ranks\s+(\d{1,9})")
_RANK = re.compile(r"rank\s+(\d{1,9})\s*\{")
_CALC = re.compile(r"(\S+):\s*calc\s+(\d{1,18})(?:\s+cpu\s+(\d{1,6}))?")
_MESSAGE = re.compile(
    r"(\S+):\s*(send|recv)\s+(\d{1,18})b?\s+(?:to|from)\s+(\d{1,9})"
    r"(?:\s+tag\s+(\d{1,9}))?(?:\s+cpu\s+(\d{1,6}))?(?:\s+nic\s+\d{1,6})?"
)
_REQUIRES = re.compile(r"(\S+)\s+(i?requires)\s+(\S+)")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


class GoalError(Exception):
    """Text that is not a GOAL schedule; the error names the line."""


@dataclass
class Operation:
    """Send, receive or computation of a rank."""

    kind: str
    """`send`, `recv` or `calc`."""
    size: int
    """Bytes, or nanoseconds."""
    peer: int = 0
    tag: int = 0
    cpu: int = 0
    after_ends: list[int] = field(default_factory=list)
    after_starts: list[int] = field(default_factory=list)

    def row(self) -> list[object]:
        """Return the operation in the form that libweft.so reads."""
        its = [self.kind, self.size, self.peer, self.tag, self.cpu]
        return [*its, self.after_ends, self.after_starts]

    def line(self) -> str:
        """Return the operation in the form that the replayer reads; `-` is the empty list."""
        its = self.row()[:5]
        lists = (",".join(map(str, one)) or "-" for one in (self.after_ends, self.after_starts))
        return " ".join([*map(str, its), *lists])


Schedule = list[list[Operation]]
"""Operations of each rank."""


def parse_goal(text: str) -> Schedule:
    """Return the schedule. Raises `GoalError`."""
    parser = _Parser()
    kept = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    for number, line in enumerate(kept.splitlines(), 1):
        parser.number = number
        parser.read(line.partition("//")[0].strip())
    return parser.end()


def _can_end(operations: list[Operation]) -> bool:
    """Return True if the dependencies are acyclic."""
    missing = [len(one.after_ends) + len(one.after_starts) for one in operations]
    waiting: list[list[int]] = [[] for _ in operations]
    for number, one in enumerate(operations):
        for first in (*one.after_ends, *one.after_starts):
            waiting[first].append(number)
    ready = [number for number, count in enumerate(missing) if count == 0]
    for number in ready:  # grows during the loop
        for later in waiting[number]:
            missing[later] -= 1
            if missing[later] == 0:
                ready.append(later)
    return len(ready) == len(operations)


class _Parser:
    def __init__(self) -> None:
        self.number = 0
        self._ranks: Schedule | None = None
        self._operations: list[Operation] | None = None  # of the open rank
        self._labels: dict[str, int] = {}
        self._ends: list[tuple[int, int]] = []  # line and peer of each message

    def read(self, line: str) -> None:
        """Read a line without comments."""
        if not line:
            return
        if self._ranks is None:
            self._ranks = self._begin(line)
        elif self._operations is None:
            self._operations = self._open(line, self._ranks)
            self._labels = {}
        elif line == "}":
            self._operations = None
        else:
            self._add(line, self._operations, len(self._ranks))

    def end(self) -> Schedule:
        """Return the schedule at the end of the text."""
        if self._ranks is None:
            raise GoalError("it is empty; a schedule begins with num_ranks")
        if self._operations is not None:
            raise self._wrong("the last rank has no closing brace")
        if not any(self._ranks):
            raise self._wrong("it has no operations")
        for rank, operations in enumerate(self._ranks):
            if not _can_end(operations):
                raise GoalError(f"rank {rank}: operations require each other, and never start")
        return self._ranks

    def _wrong(self, problem: str) -> GoalError:
        return GoalError(f"line {self.number}: {problem}")

    def _begin(self, line: str) -> Schedule:
        match = _NUMBER_OF_RANKS.fullmatch(line)
        if match is None:
            raise self._wrong(f"found {line!r}; a schedule begins with num_ranks and a number")
        count = int(match[1])
        if not 1 <= count <= MOST_RANKS:
            raise self._wrong(f"found {count} ranks; allowed are 1 to {MOST_RANKS:,}")
        return [[] for _ in range(count)]

    def _open(self, line: str, ranks: Schedule) -> list[Operation]:
        match = _RANK.fullmatch(line)
        if match is None:
            raise self._wrong(f"found {line!r}; write the operations of a rank as rank 0 {{ … }}")
        rank = int(match[1])
        if rank >= len(ranks):
            raise self._wrong(f"found rank {rank} of {len(ranks)} ranks")
        if ranks[rank]:
            raise self._wrong(f"found rank {rank} twice")
        return ranks[rank]

    def _add(self, line: str, operations: list[Operation], ranks: int) -> None:
        if match := _CALC.fullmatch(line):
            operation = Operation("calc", int(match[2]), cpu=int(match[3] or 0))
        elif match := _MESSAGE.fullmatch(line):
            peer, tag, cpu = int(match[4]), int(match[5] or 0), int(match[6] or 0)
            if peer >= ranks:
                raise self._wrong(f"found rank {peer} of {ranks} ranks")
            operation = Operation(match[2], int(match[3]), peer, tag, cpu)
        elif match := _REQUIRES.fullmatch(line):
            self._require(operations, match[1], match[2], match[3])
            return
        else:
            raise self._wrong(
                f"found {line!r}; allowed are LABEL: calc TIME, LABEL: send BYTESb to RANK, LABEL:"
                " recv BYTESb from RANK, each with tag and cpu, and LABEL requires LABEL"
            )
        if self._labels.setdefault(match[1], len(operations)) != len(operations):
            raise self._wrong(f"found the label {match[1]} twice")
        operations.append(operation)

    def _require(self, operations: list[Operation], later: str, how: str, first: str) -> None:
        for label in (later, first):
            if label not in self._labels:
                raise self._wrong(f"found the label {label}, which no operation above has")
        operation = operations[self._labels[later]]
        kept = operation.after_ends if how == "requires" else operation.after_starts
        kept.append(self._labels[first])
