# SPDX-License-Identifier: LGPL-2.1-only
"""Requests that calls of SimGrid's traces complete.

SimGrid traces the number of requests of an MPI_Waitall, but neither the requests nor the results of
MPI_Test. Two passes over the translated lines recover most of this: the first pass counts, for each
request (identified by source, destination and tag), how often it is opened and waited for by name.
In the second pass,

- an MPI_Waitall does not complete requests that are waited for by name later nor, if its count
  (which includes null requests) is smaller than the number of remaining requests, the youngest
  remaining requests;
- the last MPI_Test of a request that no later call completes is treated as a wait, since the
  program has continued.
"""

from collections import Counter, defaultdict, deque

from weft.trace.actions import NON_BLOCKING, WAIT_LIST, Words

Key = tuple[int, str, str, str]
"""Rank; source, destination and tag of a request."""
_SENDS = ("isend", "issend")


def _key(rank: int, words: Words) -> Key:
    name = words[1]
    if name in _SENDS:
        return rank, str(rank), words[2], words[3]
    if name == "irecv":
        return rank, words[2], str(rank), words[3]
    return rank, words[2], words[3], words[4]


class Requests:
    """Openings and completions of requests: first `note` all lines, then `complete` all lines."""

    def __init__(self) -> None:
        """Begin without lines."""
        self._opened: Counter[Key] = Counter()
        self._waits: Counter[Key] = Counter()
        self._tests: dict[Key, deque[int]] = defaultdict(deque)
        """Number of tests after each opening of a request; the first entry counts tests before any
        opening.
        """
        self._waitalls: Counter[int] = Counter()
        self._open: dict[int, list[Key]] = defaultdict(list)
        self._collectives: Counter[int] = Counter()
        """Open non-blocking collectives of each rank."""
        self._started: Counter[int] = Counter()
        self._ended: Counter[int] = Counter()
        """Non-blocking collectives of each rank that are started, and later waited for
        individually.
        """

    def note(self, words: Words) -> None:
        """Count a line in the first pass."""
        rank, name = int(words[0]), words[1]
        if name in _SENDS or name == "irecv":
            self._opened[_key(rank, words)] += 1
            if tests := self._tests.get(_key(rank, words)):
                tests.append(0)
        elif name == "wait":
            self._waits[_key(rank, words)] += 1
        elif name == "test":
            key = _key(rank, words)
            if key not in self._tests:
                self._tests[key].extend([0] * (self._opened[key] + 1))
            self._tests[key][-1] += 1
        elif name == "waitall":
            self._waitalls[rank] += 1
        elif name in NON_BLOCKING:
            self._started[rank] += 1
        elif name == "wait_collective":
            self._ended[rank] += 1

    def complete(self, words: Words) -> Words:
        """Return a line in the second pass, in the order of the first pass, with its requests."""
        rank, name = int(words[0]), words[1]
        if name in _SENDS or name == "irecv":
            self._start(_key(rank, words))
        elif name == "wait":
            self._waits[_key(rank, words)] -= 1
            self._end(_key(rank, words))
        elif name == "test":
            return self._test(_key(rank, words), words)
        elif name == "waitall":
            self._waitalls[rank] -= 1
            return self._wait_for_all(rank, words)
        elif name in NON_BLOCKING:
            self._collectives[rank] += 1
            self._started[rank] -= 1
        elif name == "wait_collective":
            self._collectives[rank] -= 1
            self._ended[rank] -= 1
        return words

    def _start(self, key: Key) -> None:
        self._opened[key] -= 1
        self._open[key[0]].append(key)
        if self._tests.get(key):
            self._tests[key].popleft()

    def _end(self, key: Key) -> None:
        if key in self._open[key[0]]:
            self._open[key[0]].remove(key)

    def _waited_later(self, key: Key) -> int:
        """Return the number of open requests of a key that are waited for by name later."""
        return max(0, self._waits[key] - self._opened[key])

    def _test(self, key: Key, words: Words) -> Words:
        tests = self._tests[key]
        tests[0] -= 1
        still = self._open[key[0]].count(key)
        if tests[0] > 0 or still <= self._waited_later(key) or self._waitalls[key[0]] > 0:
            return words
        self._end(key)
        return [words[0], "wait", *words[2:]]

    def _wait_for_all(self, rank: int, words: Words) -> Words:
        still, collectives, count = self._open[rank], self._collectives[rank], int(words[2])
        if self._ended[rank] > self._started[rank]:  # one of them is waited for later
            collectives = 0
        later = Counter({key: self._waited_later(key) for key in set(still)})
        chosen: list[Key] = []
        for key in reversed(still):
            if later[key] > 0:
                later[key] -= 1
            else:
                chosen.insert(0, key)
        number = collectives if len(chosen) < count >= collectives else 0
        chosen = chosen[: count - number]
        for key in chosen:
            self._end(key)
        self._collectives[rank] -= number
        requests = [word for key in chosen for word in key[1:]]
        return [words[0], WAIT_LIST, str(number), *requests]
