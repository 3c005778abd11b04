# SPDX-License-Identifier: LGPL-2.1-only
"""Writers of small training traces: Chakra's wire format, Kineto's events."""

import gzip
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.workloads import Operation, Recorder
from weft.training.formats.options import ReadOptions
from weft.training.formats.reading import read
from weft.training.workload import Workload

METADATA, LOAD, STORE, COMPUTE, SEND, RECEIVE, COLLECTIVE = range(1, 8)
ALL_REDUCE, REDUCE, ALL_GATHER, GATHER, SCATTER, BROADCAST = range(6)
ALL_TO_ALL, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, BARRIER = range(6, 10)


def workload_of(path: Path, **options: Any) -> Workload:
    return read(path, ReadOptions(**options), Recorder)


def program_of(workload: Workload, rank: int = 0) -> Recorder:
    program = workload.programs[workload.program_of[rank]]
    assert isinstance(program, Recorder)
    return program


def operations_of(workload: Workload, rank: int = 0) -> list[Operation]:
    return program_of(workload, rank).operations


# ---- Chakra


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes((*found, value))


def whole(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value)


def text(number: int, value: str | bytes) -> bytes:
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


@dataclass(frozen=True)
class Typed:
    """Value of an attribute in a field of AttributeProto."""

    field: int
    value: Any

    def encoded(self) -> bytes:
        if self.field == 3:
            return varint(3 << 3 | 1) + struct.pack("<d", self.value)
        if self.field == 5:
            return varint(5 << 3 | 5) + struct.pack("<f", self.value)
        if self.field in (15, 17):
            value = self.value
            return whole(self.field, value << 1 if value >= 0 else (-value << 1) - 1)
        if self.field == 21:
            return varint(21 << 3 | 1) + struct.pack("<Q", self.value)
        if self.field in (29, 31):
            return text(self.field, self.value)
        if self.field in (8, 10, 12, 14, 28):
            return text(self.field, text(1, b"".join(map(varint, self.value))))
        return whole(self.field, int(self.value))


def typed(value: Any) -> Typed:
    """Return a value in the field that Chakra's generators use for its type."""
    if isinstance(value, Typed):
        return value
    if isinstance(value, bool):
        return Typed(27, value)
    if isinstance(value, list):
        return Typed(28, value)
    return Typed(29 if isinstance(value, str) else 9, value)


def attribute(name: str, value: Any) -> bytes:
    return text(1, name) + typed(value).encoded()


def node(
    number: int,
    kind: int,
    after: Sequence[int] = (),
    micros: int = 0,
    name: str = "",
    inputs: str = "",
    **attributes: Any,
) -> bytes:
    message = whole(1, number) + text(2, name or f"node_{number}") + whole(3, kind)
    message += text(4, b"".join(map(varint, (number + 1000,))))  # control dependencies do not count
    if after:
        message += text(5, b"".join(map(varint, after)))
    if micros:
        message += whole(7, micros)
    if inputs:
        message += text(8, text(1, inputs))
    for key, value in attributes.items():
        message += text(10, attribute(key, value))
    return message


def et_bytes(
    nodes: Iterable[bytes], version: str = "0.0.4", attributes: Mapping[str, Any] | None = None
) -> bytes:
    head = text(1, version) if version else b""
    for key, value in (attributes or {}).items():
        head += text(2, attribute(key, value))
    return b"".join(varint(len(one)) + one for one in (head, *nodes))


def write_ranks(
    folder: Path,
    *ranks: Sequence[bytes],
    name: str = "trace",
    version: str = "0.0.4",
    packed: bool = False,
) -> Path:
    folder.mkdir(exist_ok=True)
    for rank, nodes in enumerate(ranks):
        content = et_bytes(nodes, version)
        if packed:
            (folder / f"{name}.{rank}.et.gz").write_bytes(gzip.compress(content))
        else:
            (folder / f"{name}.{rank}.et").write_bytes(content)
    return folder


# ---- Kineto


def event(category: str, name: str, begin: float, length: float, **args: Any) -> dict[str, Any]:
    thread = args.pop("thread", 1)
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": 0,
        "tid": thread,
        "ts": begin,
        "dur": length,
        "args": args,
    }


def kernel(
    name: str, stream: int, begin: float, length: float, correlation: int = -1, **args: Any
) -> dict[str, Any]:
    return event(
        "kernel", name, begin, length, stream=stream, device=0, correlation=correlation, **args
    )


def nccl(
    collective: str,
    stream: int,
    begin: float,
    length: float,
    elements: int | tuple[int, int],
    ranks: Sequence[int],
    correlation: int = -1,
    dtype: str = "Float",
    group: str = "0",
    extra: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    inside, outside = elements if isinstance(elements, tuple) else (elements, elements)
    return kernel(
        f"ncclDevKernel_{collective}_RING_LL",
        stream,
        begin,
        length,
        correlation,
        **{
            "Collective name": collective,
            "In msg nelems": inside,
            "Out msg nelems": outside,
            "dtype": dtype,
            "Group size": len(ranks),
            "Process Group Name": group,
            "Process Group Ranks": str(list(ranks)),
            **(extra or {}),
        },
    )


def launch(correlation: int, begin: float, thread: int = 1) -> dict[str, Any]:
    return event(
        "cuda_runtime", "cudaLaunchKernel", begin, 1.0, correlation=correlation, thread=thread
    )


def write_kineto(
    path: Path,
    events: Sequence[Mapping[str, Any]],
    rank: int | None = 0,
    world: int | None = 1,
    groups: Sequence[Mapping[str, Any]] = (),
) -> Path:
    info: dict[str, Any] = {"backend": "nccl", "pg_config": list(groups)}
    if rank is not None:
        info["rank"] = rank
    if world is not None:
        info["world_size"] = world
    document = {
        "schemaVersion": 1,
        "distributedInfo": info,
        "traceEvents": list(events),
        "traceName": "end ]} of {",
    }
    content = json.dumps(document, indent=1).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path
