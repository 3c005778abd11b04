# SPDX-License-Identifier: LGPL-2.1-only
"""Reader for the output of UCX's ucx_perftest.

A run measures one size: a box with its settings (printed by the server), a head, progress lines,
and the result (`Final:`; before version 1.10, and in a run that was stopped, the last line of
numbers). Consecutive runs of the same test are one benchmark. Latencies are one way; the megabyte
is 2^20 bytes (src/tools/perf/perftest.c, print_progress).

The client's output names neither the test nor the size: the echoed command does (`-t tag_lat -s
4096`; 8 bytes by default). Without a command, the head distinguishes latency from bandwidth tests,
and the size is the bandwidth divided by the message rate.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from weft.benchmarks.measurement import Block, Measured, MeasuredRow, Unit, in_series, number
from weft.benchmarks.placement import Header, settled

_HEAD = re.compile(r"\|\s*\|(?:\s*\|)?\s*(latency|overhead) \(usec\)")
_COLUMNS = re.compile(r"\|(?:\s*Stage\s*\|)?\s*# iterations \|.*\boverall\b")
_BOX = re.compile(r"\|\s*(Test|Message size|Send memory|Recv memory):\s+(.*?)\s*\|")
_FINAL = re.compile(r"(Final:)?\s*(?:\[thread \d+\])?\s*([\d,.]+(?:\s+[\d,.]+){7})\s*$")
_COMMAND = re.compile(r"\bucx_perftest\b(.*)")
_OPTION = re.compile(r"\s-(t|s|O|m)\s*(\S+)")
_MB = 1024.0**2 / 1e6
_NAMES = (
    *("iterations", "typical", "average", "overall", "bandwidth average", "bandwidth overall"),
    *("rate average", "rate overall"),
)
_DEFAULT_WINDOW = "32"  # perftest_params.c, max_outstanding
_SCALE = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
# By test name: OSU's name, and the differences.
_TESTS: Mapping[str, tuple[str, str]] = {
    "tag_lat": ("latency", ""),
    "tag_bw": ("bw", ""),
    **dict.fromkeys(("am_lat", "ucp_am_lat"), ("latency", "active messages")),
    **dict.fromkeys(("am_bw", "ucp_am_bw"), ("bw", "active messages")),
    "stream_lat": ("latency", "a stream"),
    "stream_bw": ("bw", "a stream"),
    **dict.fromkeys(("put_lat", "ucp_put_lat"), ("latency", "a ping-pong of puts")),
    **dict.fromkeys(("put_bw", "ucp_put_bw"), ("put_bw", "")),
    **dict.fromkeys(("get", "ucp_get", "get_bw", "ucp_get_bw"), ("get_bw", "")),
}
# Titles in the box, which old versions begin with "UCP".
_TITLES = {
    "tag match latency": "tag_lat",
    "tag match bandwidth": "tag_bw",
    "tag sync match latency": "tag_sync_lat",
    "tag sync match bandwidth": "tag_sync_bw",
    "active message latency": "am_lat",
    "am latency": "am_lat",
    "put latency": "put_lat",
    "stream latency": "stream_lat",
    "stream bandwidth": "stream_bw",
}


def begins(line: str) -> bool:
    """Return True for the head of a run."""
    return bool(_HEAD.match(line))


def measured(block: Block) -> list[Measured]:
    """Return the run, or nothing if it printed no result."""
    head = _HEAD.match(block.lines[block.start - 1])
    assert head is not None
    final = _final(block)
    if final is None:
        return []
    line, cells = final
    said = _said(block)
    test = said.get("test") or ("tag_lat" if head[1] == "latency" else "tag_bw")
    name, differs = _TESTS.get(test, (test, ""))
    size = _size(block, line, cells, said)
    unit: Unit = "us" if head[1] == "latency" and not name.endswith("bw") else "MB/s"
    column, scale = ("overall", 1.0) if unit == "us" else ("bandwidth overall", _MB)
    value = block.check_value(line, column, cells[_NAMES.index(column)])
    columns = dict(zip(_NAMES, map(float, cells), strict=True))
    row = MeasuredRow(size, value * scale, line, columns)
    options = {"memory": said.get("memory", "HOST"), "test": test}
    if unit != "us":
        options["window"] = said.get("window", _DEFAULT_WINDOW)
    notes = [f"ucx_perftest {test}: UCX's messages, without an MPI library, are simulated as MPI's"]
    if differs:
        notes.append(f"ucx_perftest {test}: {differs} is simulated as MPI messages")
    place = settled(block.path, "latency", Header(block.start), block.said, block.named)
    return [
        Measured(
            *(block.path, block.start, "ucx_perftest", "", name, unit, (row,), place),
            *(options, tuple(notes)),
        )
    ]


def joined(runs: Sequence[Measured]) -> list[Measured]:
    """Join consecutive runs of one test into one benchmark."""
    found: list[list[Measured]] = []
    for one in runs:
        last = found[-1][0] if found else None
        if last is None or (last.benchmark, last.options) != (one.benchmark, one.options):
            found.append([])
        found[-1].append(one)
    return [
        Measured(
            *(some[0].path, some[0].line, "ucx_perftest", "", some[0].benchmark, some[0].unit),
            *(series, some[0].placement, some[0].options, some[0].notes),
        )
        for some in found
        for series in in_series([row for one in some for row in one.rows])
    ]


def _final(block: Block) -> tuple[int, list[str]] | None:
    """Return the line with the result, and its numbers."""
    found = None
    for line, text in block.numbered:
        match = _FINAL.match(text.strip())
        if match is None:
            continue
        found = (line, match[2].replace(",", "").split())
        if match[1]:
            break
    return found


def _said(block: Block) -> dict[str, str]:
    """Return test, size, memory and window of the box or the command above a run."""
    found: dict[str, str] = {}
    for line in _joined_lines(block):
        if match := _COMMAND.search(line):
            found = {"size": "8"}
            names = {"t": "test", "s": "size", "O": "window", "m": "memory"}
            found |= {names[key]: value for key, value in _OPTION.findall(match[1])}
            if "memory" in found:
                found["memory"] = _memory(found["memory"])
        elif match := _BOX.match(line):
            key, text = match[1], match[2]
            if key == "Test":
                title = text.removeprefix("UCP ").lower()
                found["test"] = _TITLES.get(title, re.sub(r"\W+", "_", title))
            elif key == "Message size":
                found["size"] = text
            elif text.lower() != "host":
                found["memory"] = text.upper()
    return found


def _joined_lines(block: Block) -> Iterator[str]:
    """Yield the lines above a run, joined at backslashes."""
    start = ""
    for _, line in block.head:
        if line.rstrip().endswith("\\"):
            start += line.rstrip()[:-1]
        else:
            yield start + line
            start = ""


def _memory(text: str) -> str:
    """Return the send buffer's memory in capitals, from an option such as `-m cuda,host`."""
    kind = text.split(",")[0].upper()
    return kind if kind.isalpha() else "HOST"


def _size(block: Block, line: int, cells: Sequence[str], said: Mapping[str, str]) -> int:
    text = said.get("size", "")
    if match := re.fullmatch(r"(\d+)([kKmMgG]?)[bB]?", text):
        return block.check_size(line, str(int(match[1]) * _SCALE.get(match[2].lower(), 1)))
    if re.fullmatch(r"\d+(,\d+)+", text):
        return block.check_size(line, str(sum(map(int, text.split(",")))))
    rate, messages = (
        number(cells[_NAMES.index(f"{one} overall")]) for one in ("bandwidth", "rate")
    )
    if rate and messages:
        low, high = ((rate + by) * 1024**2 / (messages - 100 * by) for by in (-0.005, 0.005))
        sizes = range(int(-(-low // 1)), int(high // 1) + 1) if messages > 1 else range(0)
        powers = [size for size in (1 << bit for bit in range(41)) if low <= size <= high]
        if len(sizes) == 1 or len(powers) == 1:
            return powers[0] if powers else sizes[0]
    block.fail(
        line,
        "this output of ucx_perftest does not state the size of its messages; put its command"
        " (ucx_perftest HOST -t tag_lat -s 4096) above it",
    )
