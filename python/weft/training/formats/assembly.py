# SPDX-License-Identifier: LGPL-2.1-only
"""Operations of all ranks, checked and converted to programs.

This module detects causes of hangs, as errors can still name the node of the trace: cyclic
dependencies, sends without receives, and collectives that a group member never joins. Ranks share a
program if their programs are equal with relative peers.
"""

import hashlib
import marshal
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from weft.base.errors import WeftError, named
from weft.training.formats.operations import (
    ALLTOALL,
    COLLECTIVE,
    COMPUTE,
    RECEIVE,
    SEND,
    Group,
    Operation,
    RankTrace,
)
from weft.training.workload import NewProgram, Program, Workload

_LARGEST_TAG = (1 << 31) - 1
_MOST = 1e15
"""Limit on the seconds or bytes of an operation, far above real values."""

Channel = tuple[int, int, int]
"""Sender, receiver and tag."""
_Located = tuple[RankTrace, Operation]


def assemble(
    traces: Sequence[RankTrace], ranks: int, new_program: NewProgram, *, replicate: bool = False
) -> Workload:
    """Return the workload of all ranks.

    Args:
        traces: The recorded ranks, in ascending order.
        ranks: Size of the job.
        new_program: Creates an empty program.
        replicate: All ranks execute the operations of the only recorded rank, with shifted groups
            and peers.

    Raises:
        WeftError: The trace cannot be simulated.
    """
    _check_time(traces)
    for trace in traces:
        _check_amounts(trace)
        order(trace)
    if replicate:
        _check_ring(traces[0], ranks)
        kinds, kind_of = _shifted_kinds(traces[0], ranks)
    else:
        _check_members(traces, ranks)
        _check_collectives(traces)
        _check_messages(traces, ranks)
        kinds, kind_of = _kinds(traces)
    tags = _tags(traces)
    writer = _Writer(kind_of, tags, new_program)
    program_of = []
    for rank in range(ranks):
        trace = traces[0] if replicate else traces[rank]
        program_of.append(writer.program(trace, rank, ranks))
    return Workload(programs=writer.programs, program_of=program_of, groups=kinds)


# ---- Checks


def _check_time(traces: Sequence[RankTrace]) -> None:
    if not any(one.amount > 0 for trace in traces for one in trace.operations):
        first = traces[0]
        raise WeftError(
            f"trace: {first.path}: no {first.item} of {len(traces):,} ranks takes time: found"
            " neither durations nor sizes; record the program with its GPU kernels"
        )


def _check_amounts(trace: RankTrace) -> None:
    for one in trace.operations:
        if not 0 <= one.amount <= _MOST:
            unit = "seconds" if one.kind == COMPUTE else "bytes"
            trace.refuse(
                one, f"has {one.amount:g} {unit}; allowed are 0 to {_MOST:g}: correct the trace"
            )


def order(trace: RankTrace) -> list[int]:
    """Return the indices of operations in an order that respects dependencies.

    Raises: WeftError: Dependencies are cyclic.
    """
    open_ones = [len(one.after) for one in trace.operations]
    followers: list[list[int]] = [[] for _ in trace.operations]
    for index, one in enumerate(trace.operations):
        for before in one.after:
            followers[before].append(index)
    ready = [index for index, count in enumerate(open_ones) if not count]
    for index in ready:
        for next_one in followers[index]:
            open_ones[next_one] -= 1
            if not open_ones[next_one]:
                ready.append(next_one)
    if len(ready) < len(trace.operations):
        cycle = _cycle(trace, open_ones)
        names = " -> ".join(str(trace.operations[index].node) for index in cycle[:8])
        more = f" and {len(cycle) - 8:,} more" if len(cycle) > 8 else ""
        trace.refuse(
            trace.operations[cycle[0]],
            f"dependencies are cyclic ({trace.item}s {names}{more}), so that it would never start;"
            " correct the trace",
        )
    return ready


def _cycle(trace: RankTrace, open_ones: Sequence[int]) -> list[int]:
    """Return the operations of a cycle; each has an open dependency."""
    index = next(one for one, count in enumerate(open_ones) if count)
    seen: dict[int, int] = {}
    path: list[int] = []
    while index not in seen:
        seen[index] = len(path)
        path.append(index)
        index = next(one for one in trace.operations[index].after if open_ones[one])
    return path[seen[index] :]


def _communications(traces: Sequence[RankTrace]) -> Iterator[_Located]:
    return ((trace, one) for trace in traces for one in trace.operations if one.kind != COMPUTE)


def _check_members(traces: Sequence[RankTrace], ranks: int) -> None:
    """Check that groups consist of ranks of this job and include the calling rank."""
    checked: set[tuple[int, Group]] = set()
    for trace, one in _communications(traces):
        group = one.group
        if group is None:
            if not 0 <= one.peer < ranks or one.peer == trace.rank:
                found = "itself" if one.peer == trace.rank else f"rank {one.peer}"
                trace.refuse(
                    one, f"a message with {found}; the trace has ranks 0 to {ranks - 1}; correct it"
                )
            continue
        if (trace.rank, group) in checked:
            continue
        checked.add((trace.rank, group))
        listed = f"process group '{group.name}' has ranks {_listed(group.ranks)}"
        if trace.rank not in group.ranks:
            trace.refuse(one, f"{listed}, and not rank {trace.rank} itself; correct the groups")
        if max(group.ranks) >= ranks:
            trace.refuse(
                one,
                f"{listed}, and the trace has ranks 0 to {ranks - 1} only; add the files of the"
                f" missing ranks, or use {named('replicate')} if all ranks do the same",
            )


def _listed(ranks: Sequence[int]) -> str:
    shown = ", ".join(map(str, ranks[:8]))
    return f"{shown} and {len(ranks) - 8:,} more" if len(ranks) > 8 else shown


def _check_collectives(traces: Sequence[RankTrace]) -> None:
    """Check that all members of a group join the same collectives."""
    calls: dict[Group, dict[int, list[Operation]]] = defaultdict(dict)
    for trace, one in _communications(traces):
        if one.group is not None:
            calls[one.group].setdefault(trace.rank, []).append(one)
    for group, of_rank in calls.items():
        for rank in group.ranks:
            if rank not in of_rank:
                _refuse_absent(traces, group, rank, of_rank)
        for rank in group.ranks[1:]:
            _compare(traces[group.ranks[0]], traces[rank], group, of_rank)
        _even_out(group, of_rank)


def _refuse_absent(
    traces: Sequence[RankTrace], group: Group, rank: int, of_rank: dict[int, list[Operation]]
) -> None:
    caller = next(iter(of_rank))
    others = {
        one.group.ranks
        for one in traces[rank].operations
        if one.group is not None and one.group.name == group.name
    }
    first = of_rank[caller][0]
    if others:
        traces[caller].refuse(
            first,
            f"process group '{group.name}' has ranks {_listed(group.ranks)} here, and on rank"
            f" {rank} ranks {_listed(min(others))}; correct the groups",
        )
    traces[caller].refuse(
        first,
        f"'{first.collective}' in process group '{group.name}' of ranks {_listed(group.ranks)},"
        f" which rank {rank} ({traces[rank].path.name}) never joins; record all ranks over the same"
        " iterations",
    )


def _signature(one: Operation) -> tuple[str, float]:
    """Return the properties on which ranks must agree; parts of an Alltoall may differ in size."""
    return one.collective, 0 if one.collective == ALLTOALL else one.amount


def _compare(
    first: RankTrace, second: RankTrace, group: Group, of_rank: dict[int, list[Operation]]
) -> None:
    """Check that two ranks join the same collectives, in order if the trace defines one."""
    ours, theirs = of_rank[first.rank], of_rank[second.rank]
    if first.in_order:
        for mine, other in zip(ours, theirs, strict=False):
            if _signature(mine) != _signature(other):
                first.refuse(
                    mine,
                    f"{_call(mine)} in process group '{group.name}' meets {_call(other)} of"
                    f" {second.place(other).removeprefix(f'{second.path}: ')}; record all ranks"
                    " over the same iterations",
                )
    counts, others = Counter(map(_signature, ours)), Counter(map(_signature, theirs))
    if counts == others:
        return
    for one in (*ours, *theirs):
        key = _signature(one)
        if counts[key] != others[key]:
            owner = first if counts[key] > others[key] else second
            peer = second if owner is first else first
            most, fewest = max(counts[key], others[key]), min(counts[key], others[key])
            example = next(call for call in of_rank[owner.rank] if _signature(call) == key)
            owner.refuse(
                example,
                f"{_call(example)} in process group '{group.name}': rank {owner.rank} calls it"
                f" {most} times and rank {peer.rank} {fewest} times; record all ranks over the"
                " same iterations",
            )


def _call(one: Operation) -> str:
    return f"'{one.collective}' of {one.amount:,.0f} bytes"


def _even_out(group: Group, of_rank: dict[int, list[Operation]]) -> None:
    """Set the size of each Alltoall with unequal parts to the mean over its ranks."""
    lists = [[one for one in of_rank[rank] if one.collective == ALLTOALL] for rank in group.ranks]
    for calls in zip(*lists, strict=True):
        if len({one.amount for one in calls}) > 1:
            mean = sum(one.amount for one in calls) / len(calls)
            for one in calls:
                one.amount = mean


def _check_messages(traces: Sequence[RankTrace], ranks: int) -> None:
    """Check that each send has a receive of the same size."""
    sends: dict[Channel, list[_Located]] = defaultdict(list)
    receives: dict[Channel, list[_Located]] = defaultdict(list)
    for trace, one in _communications(traces):
        if one.kind == SEND:
            sends[trace.rank, one.peer, one.tag].append((trace, one))
        elif one.kind == RECEIVE:
            receives[one.peer, trace.rank, one.tag].append((trace, one))
    for channel in sends.keys() | receives.keys():
        _match(channel, sends[channel], receives[channel])


def _match(channel: Channel, sends: list[_Located], receives: list[_Located]) -> None:
    source, target, tag = channel
    sent = Counter(one.amount for _, one in sends)
    received = Counter(one.amount for _, one in receives)
    if sent == received:
        return
    if len(sends) == len(receives):
        pairs = zip(
            sorted(sends, key=lambda one: one[1].amount),
            sorted(receives, key=lambda one: one[1].amount),
            strict=True,
        )
        trace, one, other = next(
            (trace, one, other) for (trace, one), (_, other) in pairs if one.amount != other.amount
        )
        trace.refuse(
            one,
            f"sends {one.amount:,.0f} bytes to rank {target} with tag {tag}, and rank {target}"
            f" receives {other.amount:,.0f} bytes from rank {source} ({trace.item} {other.node});"
            " correct the trace",
        )
    missing = next(size for size in (*sent, *received) if sent[size] != received[size])
    short = sent[missing] > received[missing]
    trace, one = next(
        (trace, one) for trace, one in (sends if short else receives) if one.amount == missing
    )
    does = f"sends {missing:,.0f} bytes to" if short else f"receives {missing:,.0f} bytes from"
    lacks = f"{sent[missing]:,} such sends and {received[missing]:,} receives"
    trace.refuse(
        one,
        f"{does} rank {one.peer} with tag {tag}: the trace has {lacks}, and it would wait for ever;"
        " record all ranks over the same iterations",
    )


# ---- Replication


def _check_ring(trace: RankTrace, ranks: int) -> None:
    """Check that the messages of shifted copies of one rank match each other."""
    balance: Counter[tuple[int, int, float]] = Counter()
    for one in trace.operations:
        if one.kind in (SEND, RECEIVE):
            if not 0 <= one.peer < ranks:
                trace.refuse(one, f"a message with rank {one.peer} of {ranks} ranks; correct it")
            send = one.kind == SEND
            distance = (one.peer - trace.rank if send else trace.rank - one.peer) % ranks
            balance[distance, one.tag, one.amount] += 1 if send else -1
    for one in trace.operations:
        if one.kind in (SEND, RECEIVE) and any(balance.values()):
            trace.refuse(
                one,
                f"a message that no copy of this rank answers; {named('replicate')} needs as"
                " many receives as sends over each distance: add the files of the other ranks",
            )


def _shifted_kinds(
    trace: RankTrace, ranks: int
) -> tuple[list[tuple[str, list[list[int]]]], dict[Group, int]]:
    """Return kinds of groups that tile all ranks in the way of the recorded rank's groups."""
    kinds: list[tuple[str, list[list[int]]]] = []
    kind_of: dict[Group, int] = {}
    for one in trace.operations:
        group = one.group
        if group is None or group in kind_of or len(group.ranks) < 2:
            continue
        members = sorted(group.ranks)
        size, stride = len(members), members[1] - members[0]
        span = size * stride
        regular = members == list(range(members[0], members[0] + span, stride))
        if not regular or ranks % span or members[0] % span >= stride:
            trace.refuse(
                one,
                f"process group '{group.name}' has ranks {_listed(group.ranks)}, which do not tile"
                f" {ranks:,} ranks evenly, so that the groups of other ranks are unknown; add their"
                " files",
            )
        kind_of[group] = len(kinds)
        tiles = [
            list(range(block + offset, block + offset + span, stride))
            for block in range(0, ranks, span)
            for offset in range(stride)
        ]
        kinds.append((_unique(_kind_name(group, ranks), kinds), tiles))
    return kinds, kind_of


# ---- Programs


def _kinds(
    traces: Sequence[RankTrace],
) -> tuple[list[tuple[str, list[list[int]]]], dict[Group, int]]:
    """Return kinds of disjoint groups, and the kind of each group."""
    kinds: list[tuple[str, list[list[int]]]] = []
    used: list[set[int]] = []
    of_shape: dict[str, list[int]] = defaultdict(list)
    kind_of: dict[Group, int] = {}
    for _, one in _communications(traces):
        group = one.group
        if group is None or group in kind_of or len(group.ranks) < 2:
            continue
        name = _kind_name(group, len(traces))
        for kind in of_shape[name]:
            if used[kind].isdisjoint(group.ranks):
                break
        else:
            kind = len(kinds)
            kinds.append((_unique(name, kinds), []))
            used.append(set())
            of_shape[name].append(kind)
        kinds[kind][1].append(list(group.ranks))
        used[kind].update(group.ranks)
        kind_of[group] = kind
    return kinds, kind_of


def _kind_name(group: Group, ranks: int) -> str:
    """Return the trace's name for groups of this kind, or their shape."""
    if group.description:
        return group.description
    members = sorted(group.ranks)
    if len(members) == ranks:
        return "all ranks"
    strides = {after - before for before, after in pairwise(members)}
    if len(strides) > 1:
        return f"{len(members)} ranks"
    (stride,) = strides
    return f"{len(members)} ranks" if stride == 1 else f"{len(members)} ranks, stride {stride}"


def _unique(name: str, kinds: Sequence[tuple[str, list[list[int]]]]) -> str:
    count = sum(one == name or one.startswith(f"{name} #") for one, _ in kinds)
    return f"{name} #{count + 1}" if count else name


def _tags(traces: Sequence[RankTrace]) -> dict[tuple[int, float], int]:
    """Return the tags of messages, by tag in the trace and size.

    Messages match by tag and size, as in ASTRA-sim, so each pair gets a separate tag if a tag is
    used for several sizes.
    """
    pairs = dict.fromkeys(
        (one.tag, one.amount) for _, one in _communications(traces) if one.group is None
    )
    tags = {tag for tag, _ in pairs}
    if len(tags) == len(pairs) and max(tags, default=0) <= _LARGEST_TAG:
        return {pair: pair[0] for pair in pairs}
    return {pair: number for number, pair in enumerate(pairs)}


class _Writer:
    """Writes programs, one for all ranks with the same operations."""

    def __init__(
        self, kind_of: dict[Group, int], tags: dict[tuple[int, float], int], new: NewProgram
    ) -> None:
        self.programs: list[Program] = []
        self._kind_of = kind_of
        self._tags = tags
        self._new = new
        self._known: dict[bytes, int] = {}

    def program(self, trace: RankTrace, rank: int, ranks: int) -> int:
        """Return the index of a rank's program; in copies, `rank` differs from the trace's rank."""
        rows = [self._row(trace, rank, ranks, one) for one in trace.operations]
        hosts = tuple(sorted(trace.host_streams))
        key = hashlib.blake2b(marshal.dumps((trace.in_order, hosts, rows), 2)).digest()
        if key not in self._known:
            self._known[key] = len(self.programs)
            self.programs.append(self._write(trace.in_order, hosts, rows))
        return self._known[key]

    def _row(
        self, trace: RankTrace, rank: int, ranks: int, one: Operation
    ) -> tuple[str, int, float, tuple[int, ...], str, str, int, int]:
        after = tuple(one.after)
        if one.group is not None:
            kind = self._kind_of.get(one.group)
            if kind is None:  # a group of one rank
                return COMPUTE, one.stream, 0.0, after, one.name, "", 0, 0
            return COLLECTIVE, one.stream, one.amount, after, one.name, one.collective, kind, 0
        if one.kind == COMPUTE:
            return COMPUTE, one.stream, one.amount, after, one.name, "", 0, 0
        peer = (one.peer - trace.rank + rank) % ranks - rank
        tag = self._tags[one.tag, one.amount]
        return one.kind, one.stream, one.amount, after, one.name, "", peer, tag

    def _write(
        self,
        in_order: bool,
        hosts: Sequence[int],
        rows: Sequence[tuple[str, int, float, tuple[int, ...], str, str, int, int]],
    ) -> Program:
        program = self._new(in_order)
        for stream in hosts:
            program.host_stream(stream)
        for what, stream, amount, after, name, collective, number, tag in rows:
            if what == COMPUTE:
                program.compute(stream, amount, after, name)
            elif what == COLLECTIVE:
                program.collective(stream, number, collective, amount, after, name)
            elif what == SEND:
                program.send(stream, number, amount, tag, after, name)
            else:
                program.receive(stream, number, amount, tag, after, name)
        return program
