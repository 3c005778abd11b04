# SPDX-License-Identifier: LGPL-2.1-only
"""Reader for the output of perftest: ib_write_bw, ib_send_lat, ib_read_lat and their siblings.

Each prints its title (`RDMA_Write BW Test`), settings, and a table `#bytes #iterations …`.
Latencies are half a round trip, except for reads: the whole round trip. The megabyte of bandwidths
is 2^20 bytes (perftest_parameters.c and perftest_resources.c, print_report_bw), and with
`--report_gbits` rates are in 10^9 bits. weft uses the average, or the median if the table has no
average.
"""

import re
from collections.abc import Mapping

from weft.benchmarks.measurement import Block, Measured, MeasuredRow, Unit, in_series, number
from weft.benchmarks.placement import Header, settled

_TITLE = re.compile(
    r"\s+(?:Dual-port )?(RDMA_Write|RDMA_Read|Send|Atomic \S+|Raw ?Eth\w*)\b(.*?)"
    r"\b(BW|Bandwidth|Latency)\b(.*)\bTest\s*$"
)
_COLUMNS = re.compile(r"\s*#bytes\s+#iterations\b")
_NAME = re.compile(
    r"#bytes|#iterations|BW \w+\[[^\]]+\]|MsgRate\[[^\]]+\]|[\d.]+% percentile\[[^\]]+\]"
    r"|tps average|\w+\[[^\]]+\]|\S+"
)
_COMMAND = re.compile(r"\bib_(write|read|send|atomic)_(bw|lat)\b")
_DEPTH = re.compile(r"\s*TX depth\s*:\s*(\d+)")
_CUDA = re.compile(r"use_cuda|\bcuda buffers\b", re.IGNORECASE)
_VALUES = ("BW average", "BW peak", "t_avg", "t_typical")
_UNITS: Mapping[str, tuple[float, Unit]] = {
    "usec": (1.0, "us"),
    "us": (1.0, "us"),
    **dict.fromkeys(("MB/sec", "MiB/sec"), (1024.0**2 / 1e6, "MB/s")),
    "Gb/sec": (125.0, "MB/s"),
}
_LATENCIES = {"RDMA_Read": "get_latency"}
_RATES = {"RDMA_Read": "get_bw"}


def begins(line: str) -> bool:
    """Return True for the title of a test."""
    return bool(_TITLE.match(line))


def is_header(line: str) -> bool:
    """Return True for the line with the names of columns."""
    return bool(_COLUMNS.match(line))


def measured(block: Block) -> list[Measured]:
    """Return the test, or nothing if it never printed its columns."""
    header = next((n for n, line in block.numbered if is_header(line)), None)
    if header is None:
        return []
    names = _NAME.findall(block.lines[header - 1])
    column, scale, unit = _value_column(block, header, names)
    rows = _rows(block, header, names, (column, scale))
    if not rows:
        block.fail(header, "perftest: there are no rows below it; leave out the file")
    test, name = _test(block, unit)
    place = settled(block.path, "latency", Header(block.start), block.said, block.named)
    options = {}
    for _, line in block.numbered[: header - block.start]:
        if unit == "MB/s" and (match := _DEPTH.match(line)):
            options["window"] = match[1]
    if any(_CUDA.search(line) for _, line in [*block.head, *block.numbered]):
        options["memory"] = "CUDA"
    notes = (f"{test}: messages of verbs, without an MPI library, are simulated as MPI's",)
    return [
        Measured(
            *(block.path, block.start, "perftest", "", name, unit, series, place, options, notes)
        )
        for series in in_series(rows)
    ]


def _value_column(block: Block, header: int, names: list[str]) -> tuple[str, float, Unit]:
    for wanted in _VALUES:
        for name in names:
            what, _, unit = name.partition("[")
            if what != wanted:
                continue
            if unit.rstrip("]") not in _UNITS:
                allowed = ", ".join(_UNITS)
                block.fail(header, f"column '{name}': unknown unit; allowed are {allowed}")
            return name, *_UNITS[unit.rstrip("]")]
    block.fail(
        header,
        f"perftest: found the columns {', '.join(names)}; none is {', '.join(_VALUES)} with a unit",
    )


def _rows(
    block: Block, header: int, names: list[str], value: tuple[str, float]
) -> list[MeasuredRow]:
    column, scale = value
    found = []
    for line, text in block.numbered[header - block.start + 1 :]:
        cells = text.split()
        if len(cells) < 2 or not (cells[0].isdecimal() and cells[1].isdecimal()):
            continue
        if len(cells) != len(names):
            block.fail(
                line,
                f"found {len(cells)} columns, and line {header} names {len(names)}: is the file cut"
                " off?",
            )
        cell = cells[names.index(column)]
        numbers = {name: number(text) for name, text in zip(names, cells, strict=True)}
        columns = {name: one for name, one in numbers.items() if one is not None}
        size = block.check_size(line, cells[0])
        found.append(
            MeasuredRow(size, block.check_value(line, column, cell) * scale, line, columns)
        )
    return found


def _test(block: Block, unit: Unit) -> tuple[str, str]:
    """Return the program's name, and the name of the equivalent OSU benchmark."""
    kind = "lat" if unit == "us" else "bw"
    match = _TITLE.match(block.lines[block.start - 1])
    if match is None:
        commands = [found for _, line in block.head if (found := _COMMAND.search(line))]
        name = "ib_send" if not commands else f"ib_{commands[-1][1]}"
        what = "RDMA_Read" if name == "ib_read" else ""
        return f"{name}_{kind}", _named(what, unit, both=False)
    what = match[1]
    verb = {"RDMA_Write": "write", "RDMA_Read": "read", "Send": "send"}.get(what)
    if verb is None:
        name = f"{'atomic' if what.startswith('Atomic') else 'raw_ethernet'}_{kind}"
        return name, name
    both = "Bidirectional" in match[2] + match[4]
    return f"ib_{verb}_{kind}", _named(what, unit, both=both)


def _named(what: str, unit: Unit, *, both: bool) -> str:
    if unit == "us":
        return _LATENCIES.get(what, "latency")
    return "bibw" if both else _RATES.get(what, "bw")
