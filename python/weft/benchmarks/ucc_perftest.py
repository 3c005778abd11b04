# SPDX-License-Identifier: LGPL-2.1-only
"""Reader for the output of UCC's ucc_perftest.

It prints a line for each setting (`Collective: Allreduce`, `Memory type: host`), the head `Count
Size Time, us`, and rows with the average, minimum and maximum over ranks
(tools/perf/ucc_pt_benchmark.cc). Sizes are counted as in OSU: the vector, or the block of
Allgather, Alltoall, Gather and Scatter (generator/ucc_pt_generator_exp.cc). For Reduce_scatter,
versions since 2025 print the block of a rank instead of the vector: the bandwidth (option `-F`)
shows which size was printed.
"""

import re
from collections.abc import Mapping

from weft.benchmarks.measurement import Block, Measured, MeasuredRow, in_series, number
from weft.benchmarks.placement import Header, settled

_START = re.compile(r"\s*Collective:\s*(\S.*?)\s*$")
_COLUMNS = re.compile(r"\s*Count\s+Size\s+Time, us")
# Options of a command, for tables that are quoted without their settings.
_COMMAND = re.compile(r"\bucc_perftest\b(?=.*\s-c)")
_OPTION = re.compile(r"\s-(c|m|d|o)\s*([\w-]+)")
_SETTINGS = {"m": "Memory type", "d": "Datatype", "o": "Reduction"}
_SETTING = re.compile(r"\s*(Memory type|Datatype|Data type|Reduction|Operation type)\s*:\s*(\S+)")
_NAMES = ("count", "size", "avg", "min", "max")
_SPLIT = "reduce_scatter_block"
COLLECTIVES: Mapping[str, str] = {"reduce_scatter": _SPLIT}
"""Names that differ from weft's."""
# Names of UCC's types (ucc_datatype_str) and the MPI type of the same size.
_TYPES: Mapping[str, str] = {
    **dict.fromkeys(("int8", "uint8"), "MPI_CHAR"),
    **dict.fromkeys(("int16", "uint16", "float16", "bfloat16"), "MPI_SHORT"),
    **dict.fromkeys(("int32", "uint32"), "MPI_INT"),
    **dict.fromkeys(("int64", "uint64"), "MPI_LONG"),
    "float32": "MPI_FLOAT",
    "float64": "MPI_DOUBLE",
}
_OPERATIONS = ("sum", "prod", "max", "min", "land", "lor", "lxor", "band", "bor", "bxor")


def begins(line: str) -> bool:
    """Return True for the first line of a benchmark."""
    return bool(_START.match(line))


def is_header(line: str) -> bool:
    """Return True for the line that names the columns."""
    return bool(_COLUMNS.match(line))


def measured(block: Block) -> list[Measured]:
    """Return the benchmark, or nothing if it never printed its columns."""
    header = next((n for n, line in block.numbered if _COLUMNS.match(line)), None)
    if header is None:
        return []
    match = _START.match(block.lines[block.start - 1])
    command = _command(block)
    name = re.sub(r"\s+", "_", match[1].lower()) if match else command.get("c", "")
    if not name:
        block.fail(
            header,
            "this output of ucc_perftest does not name its collective; put its command"
            " (ucc_perftest -c allreduce) above it",
        )
    name = COLLECTIVES.get(name, name)
    place = settled(block.path, name, Header(block.start), block.said, block.named)
    rows = _rows(block, header, name, place.ranks)
    if not rows:
        block.fail(header, f"{name}: there are no rows below it; leave out the file")
    options, notes = _options(block, {} if match else command)
    return [
        Measured(
            *(block.path, block.start, "ucc_perftest", "", name, "us", series, place),
            *(options, tuple(notes)),
        )
        for series in in_series(rows)
    ]


def _rows(block: Block, header: int, name: str, ranks: int | None) -> list[MeasuredRow]:
    found = []
    for line, text in block.numbered[header - block.start + 1 :]:
        cells = text.split()
        if len(cells) < 2 or (number(cells[0]) is None and cells[0] != "N/A"):
            continue
        if number(cells[1]) is None and cells[1] != "N/A":
            continue  # job output that begins with a number
        if len(cells) not in (len(_NAMES), len(_NAMES) + 3):
            block.fail(
                line,
                f"found {len(cells)} columns, and line {header} names {len(_NAMES)}, or 8 with"
                " bandwidths: is the file cut off?",
            )
        time = block.check_value(line, "Time avg", cells[2])
        size = 0 if cells[1] == "N/A" else block.check_size(line, cells[1])
        if name == _SPLIT and ranks and _is_part(size, time, cells[5:6], ranks):
            size *= ranks
        numbers = {key: number(cell) for key, cell in zip(_NAMES, cells, strict=False)}
        columns = {key: value for key, value in numbers.items() if value is not None}
        found.append(MeasuredRow(size, time, line, columns))
    return found


def _is_part(size: int, time_us: float, rate: list[str], ranks: int) -> bool:
    """Return True if the row's bandwidth corresponds to `ranks` times its size."""
    said = number(rate[0]) if rate else None
    if said is None or said < 0.1:
        return False
    vector = size / time_us * (ranks - 1) / ranks / 1000.0
    return abs(said / (vector * ranks) - 1) < abs(said / vector - 1)


def _command(block: Block) -> dict[str, str]:
    """Return the options of the last command above a table."""
    for _, line in reversed(block.head):
        if _COMMAND.search(line):
            return dict(_OPTION.findall(line))
    return {}


def _options(block: Block, command: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    options: dict[str, str] = {}
    notes = []
    given = [f"{_SETTINGS[key]}: {value}" for key, value in command.items() if key in _SETTINGS]
    for line in [*given, *(line for _, line in block.numbered)]:
        match = _SETTING.match(line)
        if match is None:
            continue
        key, value = match[1], match[2].lower()
        if key == "Memory type":
            options["memory"] = value.upper()
        elif key == "Datatype" and value in _TYPES:
            options["datatype"] = _TYPES[value]
            if value in ("float16", "bfloat16"):
                notes.append(f"ucc_perftest: {value} is simulated as {_TYPES[value]}")
        elif key == "Reduction" and value in _OPERATIONS:
            options["op"] = f"MPI_{value.upper()}"
    if block.command is not None:
        options["command"] = block.command
    return options, notes
