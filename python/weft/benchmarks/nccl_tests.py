# SPDX-License-Identifier: LGPL-2.1-only
"""Reader for the output of nccl-tests and rccl-tests.

A test prints `# nThread 1 nGpus 8 …`, the devices of its ranks, a header in two lines, and a row
for each size with the results of a call out of place and of one in place (src/common.cu, TimeTest).
The columns `redop` and `root` exist only in some tests and versions, and older versions check the
results in a column `error` and the line `# Out of bounds values`.

The tests name themselves only since version 2.17 (`# Collective test starting: all_reduce_perf`).
Otherwise the echoed command, the file's name or the columns identify the test. Sizes are the size
of the larger buffer: all blocks together for AllGather, AlltoAll, Gather and Scatter, whose column
`count` counts the elements of one block (getCollByteCount of each test). OSU prints the block's
bytes.

Times are out-of-place times, as in MPI benchmarks; `columns` contains the in-place times.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from weft.benchmarks.bytes_of import BYTES_OF
from weft.benchmarks.measurement import Block, Measured, MeasuredRow, in_series, number
from weft.benchmarks.placement import Header, Placement, PlacementSource, settled

_START = re.compile(r"#?\s*nThreads?:?\s+(\d+)\s+nGpus:?\s+(\d+)\b")
_COLUMNS = re.compile(r"#?\s*(size|bytes)\s*(\([^)]*\))?\s+(count|N)\b.*\btime\b.*\bbusbw\b")
_VERSION = re.compile(r"#?\s*(?:nccl-tests version (\S+)|rccl-tests: Version (\S+))")
_NAMED = re.compile(r"#?\s*Collective test starting:\s*(\w+?)(_perf)?\s*$")
_PROGRAM = re.compile(r"\b(\w+?)_perf(?:_mpi)?\b")
_DEVICE = re.compile(
    r"#?\s*Rank\s+(\d+)\s+(?:Group\s+(\d+)\s+)?(?:Pid\s+\d+\s+)?on\s+(\S+)\s+device\s+\d+"
)
_FAILED = re.compile(r"#?\s*Out of bounds values\s*:\s*(\d+)\s+FAILED")
_UNITS = re.compile(r"#?\s*(\(B\)|\(bytes\)).*?\((us|ms|s)\)")
_IN_NAME = re.compile(r"(?<![a-z])(all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|broadcast)")

TESTS: Mapping[str, str] = {
    "all_reduce": "allreduce",
    "all_gather": "allgather",
    "reduce_scatter": "reduce_scatter_block",
    "alltoall": "alltoall",
    "broadcast": "bcast",
    "reduce": "reduce",
    "gather": "gather",
    "scatter": "scatter",
    "sendrecv": "sendrecv",
    "hypercube": "hypercube",
    "alltoallv": "alltoallv_nccl",
    "all_reduce_bias": "allreduce_bias",
}
"""Collective of each test in weft; the last tests have no equivalent."""
_SPELLED = {"allreduce": "all_reduce", "allgather": "all_gather", "all_to_all": "alltoall"}
_SPELLED |= {"reducescatter": "reduce_scatter", "alltoall": "alltoall"}
# Bytes of ncclDataType_t (nccl.h), and the MPI type of the same size.
_TYPES: Mapping[str, tuple[int, str]] = {
    **dict.fromkeys(("int8", "char", "uint8"), (1, "MPI_CHAR")),
    **dict.fromkeys(("f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2"), (1, "MPI_CHAR")),
    **dict.fromkeys(("half", "bfloat16", "float16"), (2, "MPI_SHORT")),
    **dict.fromkeys(("int32", "int", "uint32"), (4, "MPI_INT")),
    **dict.fromkeys(("int64", "uint64"), (8, "MPI_LONG")),
    "float": (4, "MPI_FLOAT"),
    "double": (8, "MPI_DOUBLE"),
}
_STAND_INS = ("half", "float16", "bfloat16", "f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2")
_OPERATIONS = {"sum": "MPI_SUM", "prod": "MPI_PROD", "max": "MPI_MAX", "min": "MPI_MIN"}
_CHECKS = ("#wrong", "error", "res")
_MOST_RANKS = 4096
_ROUNDED = 0.5e-2  # columns of rates have two decimals
_US = {"us": 1.0, "ms": 1e3, "s": 1e6}


def begins(line: str) -> bool:
    """Return True for the first line of a test."""
    return bool(_START.match(line))


def is_header(line: str) -> bool:
    """Return True for the line with the names of columns."""
    return bool(_COLUMNS.match(line))


@dataclass(frozen=True)
class _Row:
    """Row of the table: cells by column name; in-place columns have a prefix."""

    line: int
    cells: Mapping[str, str]

    def text(self, name: str) -> str:
        return self.cells.get(name, "")

    @property
    def numbers(self) -> dict[str, float]:
        found = {name: number(text) for name, text in self.cells.items()}
        return {name: value for name, value in found.items() if value is not None}


def measured(block: Block) -> list[Measured]:
    """Return the test's results, one per type, operation and root."""
    header = next((n for n, line in block.numbered if is_header(line)), None)
    if header is None:
        return []
    place, groups = _placement(block, header)
    rows = list(_rows(block, header))
    if not rows:
        block.fail(header, "nccl-tests: there are no rows below it; leave out the file")
    _check_results(block, rows)
    test = _test(block, header, rows)
    name = TESTS.get(test, test)
    if place.ranks is None and (ranks := _ranks_of_blocks(rows, name)):
        place = _with_ranks(place, ranks, f"size / count below line {header}")
    if place.ranks is None and (ranks := _ranks_of_rates(rows, name)):
        place = _with_ranks(place, ranks, f"busbw / algbw below line {header}")
    scale = _US[_unit(block, header, rows)]
    found = []
    for key, some in _by_call(rows).items():
        measured_rows = [_measured_row(block, row, name, key[0], scale, place) for row in some]
        for series in in_series([row for row in measured_rows if row is not None]):
            found.append(_measured(block, series, (test, name), key, place, groups))
    return found


def _rows(block: Block, header: int) -> Iterator[_Row]:
    names = _names(block.lines[header - 1])
    for line, text in block.numbered:
        cells = text.split()
        if line <= header or not cells or not cells[0].isdecimal():
            continue
        if len(cells) > 2 and not cells[1].isdecimal():
            continue  # job output that begins with a number
        if len(cells) < len(names):
            block.fail(
                line,
                f"found {len(cells)} columns, and line {header} names {len(names)}: is the file cut"
                " off, or are these two tables?",
            )
        # Further cells are a timestamp (option -T).
        yield _Row(line, dict(zip(names, cells, strict=False)))


def _names(line: str) -> list[str]:
    """Return the names of the columns; the second set of results is in place."""
    text = re.sub(r"\([^)]*\)", " ", line).strip()
    if text.startswith("#") and not text.startswith("#wrong"):
        text = text[1:]
    found: list[str] = []
    for word in text.split():
        name = {"bytes": "size", "N": "count", "op": "redop"}.get(word, word)
        found.append(f"in-place {name}" if name in found else name)
    return found


def _unit(block: Block, header: int, rows: Sequence[_Row]) -> str:
    """Return the unit of times, which the first versions do not name."""
    for _, line in block.numbered[header - block.start : header - block.start + 2]:
        if match := re.search(r"\((us|ms|s)\)", line):
            return match[1]
    for row in reversed(rows):
        values = row.numbers
        rate, time = values.get("algbw", 0.0), values.get("time", 0.0)
        if rate > 100 * _ROUNDED and time > 0:
            us = values["size"] / rate / 1e3
            return min(_US, key=lambda unit: abs(us / (time * _US[unit]) - 1))
    return "us"


def _check_results(block: Block, rows: Sequence[_Row]) -> None:
    """Refuse a test that found wrong results."""
    for row in rows:
        for name in ("#wrong", "in-place #wrong"):
            wrong = number(row.text(name))
            if wrong:
                block.fail(
                    row.line,
                    f"nccl-tests found {wrong:g} wrong results of {row.text('size')} B"
                    f" ({name}); times of wrong results are no measurement: leave out the file",
                )
    for line, text in block.numbered:
        if match := _FAILED.match(text):
            block.fail(
                line,
                f"nccl-tests found {match[1]} values out of bounds (FAILED); times of wrong results"
                " are no measurement: leave out the file",
            )


# ---- Test ----------------------------------------------------------------------------------------


def _test(block: Block, header: int, rows: Sequence[_Row]) -> str:
    """Return the name of the test, from the file's text or else from its columns."""
    for _, line in reversed([*block.head, *block.numbered[: header - block.start + 1]]):
        if match := _NAMED.match(line):
            return match[1]
    for _, line in reversed(block.head):
        if match := _PROGRAM.search(line):
            return match[1]
    if match := _PROGRAM.search(block.path.name) or _IN_NAME.search(block.path.name.lower()):
        return _SPELLED.get(match[1], match[1])
    if found := _test_of_columns(rows):
        return found
    block.fail(
        block.start,
        "this output of nccl-tests names no test, and its columns fit several; put its command"
        " (all_gather_perf …) or a line '# Collective test starting: all_gather_perf' above it, or"
        " name the file after the test",
    )


def _test_of_columns(rows: Sequence[_Row]) -> str | None:
    """Return the only test with these columns, or None."""
    row = rows[-1]
    element = _TYPES.get(row.text("type"), (0, ""))[0]
    whole = element * row.numbers.get("count", 0) == row.numbers.get("size", -1)
    sums = row.text("redop") not in ("", "none")
    rooted = row.text("root") not in ("", "-1")
    if sums and whole:
        return "reduce" if rooted else "all_reduce"
    if sums:
        return None if rooted else "reduce_scatter"
    if whole:
        return "broadcast" if rooted else None
    return None


def _by_call(rows: Sequence[_Row]) -> dict[tuple[str, str, str], list[_Row]]:
    """Return rows by type, operation and root."""
    found: dict[tuple[str, str, str], list[_Row]] = {}
    for row in rows:
        found.setdefault((row.text("type"), row.text("redop"), row.text("root")), []).append(row)
    return found


def _measured_row(
    block: Block, row: _Row, name: str, type_: str, scale: float, place: Placement
) -> MeasuredRow | None:
    """Return a row with its size as OSU counts it; None for a call without work."""
    size, count = block.check_size(row.line, row.text("size")), int(row.numbers["count"])
    if size == 0:
        return None
    if type_ not in _TYPES:
        allowed = ", ".join(_TYPES)
        block.fail(row.line, f"column 'type': found '{type_}'; known types are {allowed}")
    if BYTES_OF.get(name) == "block":
        each = count * _TYPES[type_][0]
        if each >= size and place.ranks:
            each = size // place.ranks
        size = each
    column = "time" if number(row.text("time")) is not None else "in-place time"
    time = block.check_value(row.line, column, row.text(column))
    return MeasuredRow(size, time * scale, row.line, row.numbers)


def _measured(
    block: Block,
    rows: tuple[MeasuredRow, ...],
    test: tuple[str, str],
    call: tuple[str, str, str],
    place: Placement,
    groups: int,
) -> Measured:
    type_, redop, root = call
    options = {"datatype": _TYPES[type_][1]}
    notes = [f"{test[0]}_perf: NCCL's call on GPU buffers is simulated as MPI's on host buffers"]
    if type_ in _STAND_INS:
        notes.append(f"{test[0]}_perf: {type_} is simulated as {options['datatype']}")
    if redop not in ("", "none"):
        options["op"] = _OPERATIONS.get(redop, "MPI_SUM")
        if redop not in _OPERATIONS:
            notes.append(f"{test[0]}_perf: operation {redop} is simulated as MPI_SUM")
    if root not in ("", "-1", "0"):
        notes.append(f"{test[0]}_perf: root {root} is simulated as root 0")
    if groups > 1:
        options["groups"] = str(groups)
    if block.command is not None:
        options["command"] = block.command
    return Measured(
        *(block.path, block.start, "nccl-tests", _version(block), test[1], "us", rows, place),
        *(options, tuple(notes)),
    )


def _version(block: Block) -> str:
    for _, line in reversed([*block.head, *block.numbered]):
        if match := _VERSION.match(line):
            return match[1] or match[2]
    return ""


# ---- Ranks ---------------------------------------------------------------------------------------


def _placement(block: Block, header: int) -> tuple[Placement, int]:
    """Return the placement of a communicator, and the number of concurrent communicators."""
    match = _START.match(block.lines[block.start - 1])
    gpus = int(match[1]) * int(match[2]) if match else 1
    world, groups = _devices(block, header)
    said = [_scaled(one, gpus) for one in block.said]
    started = [one.fields.get("ranks", 0) for one in said if one.is_command][-1:]
    if world is not None and started and started[0] > world.fields["ranks"]:
        world = None  # the list of devices was shortened
    return settled(block.path, "", Header(block.start, None, world), said, block.named), groups


def _scaled(one: PlacementSource, gpus: int) -> PlacementSource:
    """Convert a statement about processes to ranks: each process drives several GPUs."""
    fields = {what: n * (1 if what == "hosts" else gpus) for what, n in one.fields.items()}
    return replace(one, fields=fields)


def _devices(block: Block, header: int) -> tuple[PlacementSource | None, int]:
    """Return the placement of the device list (None if incomplete), and the number of groups."""
    hosts: dict[str, list[int]] = {}
    groups: set[int] = set()
    seen: dict[int, int] = {}
    last = block.start
    for line, text in block.numbered[: header - block.start]:
        match = _DEVICE.match(text)
        if match is None:
            continue
        rank, last = int(match[1]), line
        if rank in seen:
            block.fail(
                line,
                f"rank {rank} of nccl-tests stands twice (line {seen[rank]}): each process measured"
                " alone, as nccl-tests does if it is built without MPI; build it with MPI=1",
            )
        seen[rank] = line
        groups.add(int(match[2] or 0))
        hosts.setdefault(match[3], []).append(rank)
    if not seen or len(seen) != max(seen) + 1:
        return None, 1  # lines were left out
    most = max(map(len, hosts.values()))
    fields = {"ranks": len(seen)}
    if len({len(some) for some in hosts.values()}) == 1:
        fields["ppn"] = most
    text = f"{len(seen)} devices on {len(hosts)} hosts"
    return PlacementSource(block.path, last, text, fields), len(groups)


def _with_ranks(place: Placement, ranks: int, source: str) -> Placement:
    """Return a placement with the number of ranks derived from the columns."""
    ppn = place.ppn if place.ppn and ranks % place.ppn == 0 else None
    return Placement(ranks, ppn, {**place.sources, "ranks": source})


def _ranks_of_blocks(rows: Sequence[_Row], name: str) -> int | None:
    """Return the number of blocks in a size, for tests whose `count` is the count of one block."""
    row = rows[-1]
    block = _TYPES.get(row.text("type"), (0, ""))[0] * int(row.numbers.get("count", 0))
    size = int(row.numbers.get("size", 0))
    blocks = BYTES_OF.get(name) in ("block", "split")
    return size // block if blocks and 0 < block < size and size % block == 0 else None


def _ranks_of_rates(rows: Sequence[_Row], name: str) -> int | None:
    """Return the only number of ranks that is consistent with all pairs of `busbw` and `algbw`.

    `busbw` is `algbw` times 2 (n - 1) / n for AllReduce, and (n - 1) / n for AllGather,
    ReduceScatter and AlltoAll (nccl-tests, doc/PERFORMANCE.md); both columns have two decimals.
    """
    factor = {"allreduce": 2.0, "allgather": 1.0, "reduce_scatter_block": 1.0, "alltoall": 1.0}
    if name not in factor:
        return None
    low, high = 0.0, 1.0
    for row in rows:
        rate, bus = row.numbers.get("algbw", 0.0), row.numbers.get("busbw", 0.0)
        if rate <= 2 * _ROUNDED:
            continue
        low = max(low, (bus - _ROUNDED) / (rate + _ROUNDED) / factor[name])
        high = min(high, (bus + _ROUNDED) / (rate - _ROUNDED) / factor[name])
    fits = [n for n in range(2, _MOST_RANKS + 1) if low <= 1 - 1 / n <= high]
    return fits[0] if len(fits) == 1 else None
