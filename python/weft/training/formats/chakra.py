# SPDX-License-Identifier: LGPL-2.1-only
"""Chakra execution traces: a file `NAME.<rank>.et` for each rank, or its JSON form.

Schema: schema/protobuf/et_def.proto of https://github.com/mlcommons/chakra. A file is a sequence of
Protocol Buffers messages, first GlobalMetadata, then nodes. The semantics follow ASTRA-sim's reader
(astra-sim/workload/Workload.cc and HardwareResource.cc): only data dependencies count, the ready
node with the smallest number starts first, and a rank executes at most one CPU operation, one
computation and one communication at a time. Any number of receives, which are posted at the start,
may be pending. Nodes that name a CPU thread or GPU stream use this thread or stream instead.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from weft.base.errors import WeftError, named, printable
from weft.base.user_files import UnreadableError, read_json
from weft.training.formats import operations as ops
from weft.training.formats.assembly import assemble
from weft.training.formats.json_stream import ArrayReader
from weft.training.formats.operations import Group, Operation, RankTrace
from weft.training.formats.options import ReadOptions
from weft.training.formats.rank_files import number_of_ranks, numbered
from weft.training.formats.source import Source, head_of
from weft.training.formats.wire import (
    Value,
    WireError,
    fields,
    messages,
    packed,
    real,
    signed,
    zigzag,
)
from weft.training.workload import NewProgram, Workload

_INVALID, _METADATA, _LOAD, _STORE, _COMPUTE, _SEND, _RECEIVE, _COLLECTIVE = range(8)
_GATHER, _SCATTER, _BARRIER = 3, 4, 9
_COLLECTIVES = {
    0: ops.ALLREDUCE,
    1: ops.REDUCE,
    2: ops.ALLGATHER,
    5: ops.BROADCAST,
    6: ops.ALLTOALL,
    7: ops.REDUCE_SCATTER,
    8: ops.REDUCE_SCATTER,
    _BARRIER: ops.ALLREDUCE,
}
"""Names of CollectiveCommType values."""
_GATHER_TAG = 1 << 24
"""First tag of the messages that implement a Gather or Scatter."""
_ATTRIBUTES = frozenset(
    (
        *("is_cpu_op", "num_ops", "tensor_size", "comm_type", "comm_size", "comm_src", "comm_dst"),
        *("comm_tag", "pg_name", "comm_group", "involved_dim", "stream", "tid"),
    )
)
_ATTRIBUTE_NAMES = {one.encode(): one for one in _ATTRIBUTES}
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)$")
_OLDEST = (0, 0, 4)
_JSON_ARRAY = "workload_graph"
_SNIFFED = 1 << 16
_ALL = ("", "0")
"""Names of the process group with all ranks."""


@dataclass(slots=True)
class _Node:
    """Node with its relevant attributes."""

    number: int = -1
    name: str = ""
    kind: int = _INVALID
    after: list[int] = field(default_factory=list)
    micros: int = 0
    inputs: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)


def files_of(path: Path) -> dict[int, Path]:
    """Return the files of a Chakra trace by rank; none if the path is not a Chakra trace."""
    return numbered(path, _is_chakra)


def _is_chakra(path: Path) -> bool:
    suffixes = path.suffixes
    if ".et" in suffixes[-2:]:
        return True
    return is_json_form(path)


def is_json_form(path: Path) -> bool:
    """Return True for the JSON form of an execution trace."""
    return f'"{_JSON_ARRAY}"'.encode() in head_of(path, _SNIFFED)


def read(path: Path, options: ReadOptions, new_program: NewProgram) -> Workload:
    """Read the execution traces of all ranks. Raises `WeftError`."""
    files = files_of(path)
    if not files:
        raise WeftError(
            f"trace: {path}: found no files NAME.<rank>.et; name their folder or prefix"
        )
    ranks = number_of_ranks(path, files, options)
    groups = _groups_of(options.groups, ranks)
    traces = []
    versions: dict[str, Path] = {}
    for rank, file in files.items():
        options.progress(f"reading rank {rank} of {ranks:,}")
        reader = _Reader(file, rank, ranks, options, groups)
        traces.append(reader.read())
        versions.setdefault(reader.version, file)
    if len(versions) > 1:
        (one, first), (other, second) = list(versions.items())[:2]
        raise WeftError(
            f"trace: {path}: schemas differ: {first.name} has '{one}' and {second.name} '{other}';"
            " convert all ranks with one version"
        )
    return assemble(traces, ranks, new_program, replicate=options.replicate is not None)


def _groups_of(path: Path | None, ranks: int) -> dict[str, Group]:
    """Read ASTRA-sim's file of process groups: `{"1": [0, 1], ...}`."""
    if path is None:
        return {}
    try:
        found = read_json(path)
    except UnreadableError as error:
        raise WeftError(f"groups: {path} {error}") from None
    if not isinstance(found, dict):
        raise WeftError(f'groups: {path}: found no object such as {{"1": [0, 1]}}; correct it')
    groups = {}
    for name, members in found.items():
        if not _are_ranks(members):
            raise WeftError(
                f"groups: {path}: process group '{printable(name)}' is not a list of different"
                " ranks; correct it"
            )
        groups[name] = Group(name, tuple(members) or tuple(range(ranks)))
    return groups


def _are_ranks(found: Any) -> bool:
    return (
        isinstance(found, list)
        and all(type(one) is int and one >= 0 for one in found)
        and len(set(found)) == len(found)
    )


class _Reader:
    """Reader of one rank's file."""

    def __init__(
        self,
        path: Path,
        rank: int,
        ranks: int,
        options: ReadOptions,
        groups: Mapping[str, Group],
    ) -> None:
        self.version = ""
        self._options = options
        self._ranks = ranks
        self._groups = dict(groups)
        self._world = Group(_ALL[1], tuple(range(ranks)))
        self._streams: dict[tuple[str, int], int] = {}
        self._trace = RankTrace(rank, path, [], in_order=False)
        self._channels: dict[tuple[int, int], int] = {}
        """Indices of receives by sender and tag."""
        self._pieces: dict[int, list[int]] = {}
        """Operations that end another operation of the same node, by its index."""

    def read(self) -> RankTrace:
        """Return the operations of the rank."""
        with Source(self._trace.path, self._options.progress) as source:
            nodes = list(self._nodes(source))
        nodes.sort(key=lambda one: one.number)
        for one in nodes:
            if one.kind == _METADATA:
                self._add_groups(one)
        self._convert(nodes)
        return self._trace

    # ---- Nodes

    def _nodes(self, source: Source) -> Iterator[_Node]:
        if self._trace.path.name.removesuffix(".gz").endswith(".json"):
            yield from self._json_nodes(source)
            return
        count = 0
        for message in messages(source):
            try:
                if count:
                    yield _parse_node(message)
                else:
                    self._check_version(source, message)
            except (WireError, UnicodeDecodeError):
                source.refuse(
                    f"message {count} is no Chakra node: the file is damaged or has another schema",
                    "convert it with schema 0.0.4 or later",
                )
            count += 1
        if not count:
            source.refuse("found an empty file", "record or convert the trace again")

    def _check_version(self, source: Source, message: bytes) -> None:
        """Read GlobalMetadata; the attribute `schema` contains PyTorch's version."""
        version = schema = ""
        for number, value in fields(message):
            if number == 1 and isinstance(value, int):
                source.refuse(
                    "begins with a node, as traces of schema 0.0.1 do",
                    "convert it with schema 0.0.4 or later",
                )
            if number == 1 and isinstance(value, bytes):
                version = value.decode()
            elif number == 2 and isinstance(value, bytes):
                name, found = _attribute(value, {b"schema": "schema"})
                schema = str(found) if name else schema
        self.version = version or schema
        match = _VERSION.search(self.version)
        if match and tuple(map(int, match.groups())) < _OLDEST:
            source.refuse(
                f"has schema {printable(self.version)}; allowed: 0.0.4 and later",
                "convert it again with a newer Chakra",
            )

    def _json_nodes(self, source: Source) -> Iterator[_Node]:
        array = ArrayReader(source, _JSON_ARRAY)
        self.version = "JSON"
        decoder = msgspec.json.Decoder(list[dict[str, Any]])
        for some in array.objects(decoder):
            for found in some:
                yield self._json_node(source, found)

    def _json_node(self, source: Source, found: dict[str, Any]) -> _Node:
        def first(*names: str, default: Any = None) -> Any:
            return next((found[one] for one in names if one in found), default)

        one = _Node(
            number=first("Id", "id", default=-1),
            name=str(first("Name", "name", default="")),
            kind=first("NodeType", "type", default=-1),
            after=first("data_deps", "dataDeps", default=[]),
            micros=first("runtime", "duration_micros", default=0),
            inputs=str(found.get("inputs", "")),
            attributes={key: found[key] for key in _ATTRIBUTES & found.keys()},
        )
        after = one.after if isinstance(one.after, list) else [-1]
        whole = (one.number, one.kind, one.micros, *after)
        if not all(type(value) is int and value >= 0 for value in whole):
            source.refuse(
                f"found a node without whole numbers as Id, NodeType, data_deps and runtime:"
                f" {printable(json.dumps(found)[:120])}",
                "convert the trace again",
            )
        return one

    # ---- Process groups

    def _add_groups(self, node: _Node) -> None:
        """Read PyTorch's list of process groups; ignore all other metadata."""
        start, end = node.inputs.find("[{"), node.inputs.rfind("}]")
        if start < 0 or end < start:
            return
        text = node.inputs[start : end + 2]
        for candidate in (text, text.replace('\\"', '"')):
            try:
                found = json.loads(candidate)
                break
            except ValueError:
                continue
        else:
            return
        for one in found:
            name, members = str(one.get("pg_name", "")), one.get("ranks", [])
            if not _are_ranks(members):
                self._refuse(node, f"process group '{printable(name)}' has no list of ranks")
            description = str(one.get("pg_desc", ""))
            if not members:
                size = one.get("group_size", self._ranks)
                if size != self._ranks:
                    continue
                members = range(self._ranks)
            self._groups[name] = Group(name, tuple(members), _described(description))

    def _group(self, node: _Node) -> Group:
        name = str(node.attributes.get("pg_name", node.attributes.get("comm_group", "")))
        if name in self._groups:
            return self._groups[name]
        if name in _ALL:
            return self._of_dimensions(node)
        self._refuse(
            node,
            f"names process group '{printable(name)}', which the trace does not list; name"
            f" ASTRA-sim's JSON file of groups with {named('process_groups')}",
        )

    def _of_dimensions(self, node: _Node) -> Group:
        """Return the ranks that differ only in the involved dimensions."""
        involved = node.attributes.get("involved_dim", True)
        flags = [bool(one) for one in involved] if isinstance(involved, list) else [bool(involved)]
        sizes = self._options.dimensions
        if all(flags) and (not sizes or len(flags) >= len(sizes)):
            return self._world
        if not sizes:
            self._refuse(
                node,
                "involves some dimensions of ASTRA-sim's logical topology only (involved_dim);"
                f" name their sizes with {named('logical_dimensions')}",
            )
        members, stride = [0], 1
        for index, size in enumerate(sizes):
            if index < len(flags) and flags[index]:
                members = [one + stride * step for step in range(size) for one in members]
            else:
                members = [one + stride * (self._trace.rank // stride % size) for one in members]
            stride *= size
        if stride != self._ranks:
            self._refuse(
                node,
                f"the trace has {self._ranks} ranks, and {named('logical_dimensions')} gives"
                f" {stride}; correct it",
            )
        name = "dimensions " + ",".join(str(index) for index, one in enumerate(flags) if one)
        return Group(name, tuple(sorted(members)))

    # ---- Operations

    def _convert(self, nodes: Sequence[_Node]) -> None:
        """Append the operations of all nodes, and translate dependencies to operation indices."""
        last: dict[int, int] = {}
        operations = self._trace.operations
        for node in nodes:
            if node.number in last:
                self._refuse(node, "two nodes have this number; correct the trace")
            self._append(node)
            last[node.number] = len(operations) - 1
        for index, one in enumerate(operations):
            try:
                one.after = [last[number] for number in dict.fromkeys(one.after)]
            except KeyError as error:
                self._trace.refuse(
                    one,
                    f"depends on node {error}, which the file does not have (a dangling"
                    " dependency), so that it would never start; correct the trace",
                )
            one.after += self._pieces.get(index, ())

    def _append(self, node: _Node) -> None:
        """Append a node's operations, whose dependencies are still node numbers."""
        operations = self._trace.operations
        is_host = bool(self._whole(node, "is_cpu_op"))
        if node.kind in (_INVALID, _METADATA):
            operations.append(self._operation(node, ops.COMPUTE, ("none", 0), 0.0))
        elif node.kind in (_LOAD, _STORE, _COMPUTE) or (is_host and not self._communicates(node)):
            operations.append(self._computation(node, is_host))
        elif node.kind not in (_SEND, _RECEIVE, _COLLECTIVE):
            self._refuse(
                node, f"has type {node.kind}; allowed are 0 to 7: convert it with schema 0.0.4"
            )
        elif is_host:
            self._refuse(
                node,
                "is a communication on the CPU (is_cpu_op); the network carries those of GPUs only:"
                " correct is_cpu_op",
            )
        elif node.kind == _COLLECTIVE:
            self._collective(node)
        else:
            self._message(node)

    def _communicates(self, node: _Node) -> bool:
        """Return False for PyTorch's host side of a collective, which transfers no data."""
        return "comm_size" in node.attributes

    def _computation(self, node: _Node, is_host: bool) -> Operation:
        if is_host:
            stream = self._stream("cpu", self._whole(node, "tid"))
            self._trace.host_streams.add(stream)
            return Operation(
                ops.COMPUTE, stream, node.micros * 1e-6, node.after, node.name, node.number
            )
        default = "compute" if node.kind == _COMPUTE else "memory"
        seconds = node.micros * 1e-6
        flops, size = self._whole(node, "num_ops"), self._whole(node, "tensor_size")
        if not seconds and (flops or size):
            if self._options.roofline is None:
                self._refuse(
                    node,
                    f"has no duration, but {flops:,} operations on {size:,} bytes; name the GPU"
                    f" that executes them with {named('gpu')}",
                )
            seconds = self._options.roofline(flops, size)
        return self._operation(node, ops.COMPUTE, self._lane(node, default), seconds)

    def _lane(self, node: _Node, default: str) -> tuple[str, int]:
        """Return the GPU stream of a node, or the resource that ASTRA-sim assigns to it."""
        for name in ("stream", "tid"):
            if name in node.attributes:
                return "gpu", self._whole(node, name)
        return default, 0

    def _stream(self, lane: str, number: int) -> int:
        return self._streams.setdefault((lane, number), len(self._streams))

    def _operation(
        self, node: _Node, kind: ops.Kind, lane: tuple[str, int], amount: float
    ) -> Operation:
        return Operation(kind, self._stream(*lane), amount, node.after, node.name, node.number)

    def _message(self, node: _Node) -> None:
        key = "comm_dst" if node.kind == _SEND else "comm_src"
        if key not in node.attributes:
            self._refuse(
                node,
                f"has no {key}, which Chakra's converter leaves out for PyTorch's traces; replay"
                " the Kineto files of the same run",
            )
        peer, tag = self._whole(node, key), self._whole(node, "comm_tag")
        kind: ops.Kind = ops.SEND if node.kind == _SEND else ops.RECEIVE
        lane = self._lane(node, "communication")
        posted = kind == ops.RECEIVE and lane[0] != "gpu"
        if posted:
            channel = self._channels.setdefault((peer, tag), len(self._channels))
            lane = "receive", channel
        one = self._operation(node, kind, lane, self._size(node))
        one.peer, one.tag = peer, tag
        self._trace.operations.append(one)
        if posted:
            self._end_receive(node, one)

    def _end_receive(self, node: _Node, one: Operation) -> None:
        """Post a receive at the start, and append its end.

        In ASTRA-sim, a send ends when its message has arrived, even if the receive has not begun.
        """
        one.after = []
        operations = self._trace.operations
        self._pieces[len(operations)] = [len(operations) - 1]
        operations.append(self._operation(node, ops.COMPUTE, ("none", 0), 0.0))

    def _size(self, node: _Node) -> int:
        if "comm_size" not in node.attributes:
            self._refuse(
                node, "has no comm_size, so that its bytes are unknown; convert the trace again"
            )
        return self._whole(node, "comm_size")

    def _collective(self, node: _Node) -> None:
        if "comm_type" not in node.attributes:
            self._refuse(
                node,
                "is a collective without comm_type and comm_size, which the JSON form lacks; replay"
                " the .et files",
            )
        code = self._whole(node, "comm_type")
        group = self._group(node)
        lane = self._lane(node, "communication")
        if code in (_GATHER, _SCATTER):
            self._rooted(node, group, lane, code)
            return
        if code not in _COLLECTIVES:
            self._refuse(node, f"has comm_type {code}; allowed are 0 to 9")
        name = _COLLECTIVES[code]
        size = float(ops.BARRIER_BYTES if code == _BARRIER else self._size(node))
        if self._options.sizes == "input":
            size = ops.total_size(name, size, len(group.ranks))
        one = self._operation(node, ops.COLLECTIVE, lane, size)
        one.collective, one.group = name, group
        self._trace.operations.append(one)

    def _rooted(self, node: _Node, group: Group, lane: tuple[str, int], code: int) -> None:
        """Append a Gather or Scatter as messages with the group's first rank."""
        operations, root = self._trace.operations, group.ranks[0]
        size = self._size(node) / (len(group.ranks) if code == _SCATTER else 1)
        at_root = self._trace.rank == root
        kind: ops.Kind = ops.SEND if at_root == (code == _SCATTER) else ops.RECEIVE
        peers = group.ranks[1:] if at_root else (root,)
        first = len(operations)
        for index, peer in enumerate(peers):
            piece = self._operation(node, kind, ("gather", index), size)
            piece.peer, piece.tag = peer, _GATHER_TAG + code
            operations.append(piece)
        self._pieces[len(operations)] = list(range(first, len(operations)))
        operations.append(self._operation(node, ops.COMPUTE, lane, 0.0))

    # ---- Values

    def _whole(self, node: _Node, name: str) -> int:
        """Return an attribute as an integer, from any field type; 0 if absent."""
        value = node.attributes.get(name, 0)
        if isinstance(value, str) and value.strip().lower() in ("true", "false"):
            return int(value.strip().lower() == "true")
        try:
            number = int(value)
        except (TypeError, ValueError, OverflowError):
            number = -1
        if number < 0 and name not in ("tid", "stream"):
            self._refuse(
                node, f"has {name} '{printable(str(value)[:40])}', which is no whole number"
            )
        return number

    def _refuse(self, node: _Node, what: str) -> NoReturn:
        place = Operation(ops.COMPUTE, 0, 0.0, [], node.name, node.number)
        self._trace.refuse(place, what)


def _described(description: str) -> str:
    return "" if description in ("", "undefined") else printable(description[:40])


# ---- Messages


def _parse_node(message: bytes) -> _Node:
    """Parse a message as a node. Raises `WireError`."""
    node = _Node(number=0)
    after = node.after
    inputs = b""
    for number, value in fields(message):
        if number == 10 and isinstance(value, bytes):
            name, found = _attribute(value, _ATTRIBUTE_NAMES)
            if name:
                node.attributes[name] = found
        elif number == 5:
            after += [value] if isinstance(value, int) else packed(value)
        elif number == 1 and isinstance(value, int):
            node.number = value
        elif number == 2 and isinstance(value, bytes):
            node.name = value.decode(errors="replace")
        elif number == 3 and isinstance(value, int):
            node.kind = value
        elif number == 7 and isinstance(value, int):
            node.micros = value
        elif number == 8 and isinstance(value, bytes):
            inputs = value
        elif number <= 3:
            raise WireError
    if node.kind == _METADATA:
        node.inputs = _first_text(inputs)
    return node


def _first_text(message: bytes) -> str:
    for number, value in fields(message):
        if number == 1 and isinstance(value, bytes):
            return value.decode(errors="replace")
    return ""


def _attribute(message: bytes, names: Mapping[bytes, str]) -> tuple[str, Any]:
    """Return name and value of an attribute; the name is empty unless it is in `names`."""
    if len(message) > 2 and message[0] == 10 and message[1] < 128:
        name = names.get(message[2 : 2 + message[1]])
        if name is None:
            return "", None
    named = ""
    found: Any = 0
    for number, value in fields(message):
        if number == 1 and isinstance(value, bytes):
            named = names.get(value, "")
        elif number > 2:
            found = _value(number, value)
    return named, found


def _value(number: int, value: Value) -> Any:
    """Return the value of an attribute by its field: a scalar, or a list of integers."""
    if isinstance(value, bytes):
        if number in (29, 31):
            return value.decode(errors="replace")
        return _list(number, value)
    if number == 3:
        return real(value, 8)
    if number == 5:
        return real(value, 4)
    if number in (7, 9):
        return signed(value)
    if number in (15, 17):
        return zigzag(value)
    return value


def _list(number: int, message: bytes) -> list[Any]:
    values: list[Any] = []
    for _, value in fields(message):
        if isinstance(value, int):
            values.append(value)
        elif number in (8, 10, 12, 14, 28):
            values += packed(value)
    return values
