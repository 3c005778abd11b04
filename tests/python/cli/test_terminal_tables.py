# SPDX-License-Identifier: LGPL-2.1-only
"""Tables on terminals of any width: numbers are never truncated."""

import io
import os
import pty
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console

from tests.support.places import TESTS
from weft.base.tables import new_table, print_table

WIDTHS = (40, 60, 200)
NAMES = ("bytes", "stream", "message", "Open MPI tuned", "why")
ROWS = (
    ("1048576", "154.02", "175.53", "316.57", "the switch does not do this"),
    ("4", "7.76", "", "-6.4%", "policy"),
)


def printed(names: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    stream = io.StringIO()
    table = new_table(names, left=("why",))
    for row in rows:
        table.add_row(*row)
    print_table(table, Console(file=stream, width=width, highlight=False, markup=False))
    return [line.rstrip() for line in stream.getvalue().splitlines()]


@pytest.mark.parametrize("width", range(5, 120))
def test_every_number_and_word_is_whole_at_any_width(width: int) -> None:
    text = "\n".join(printed(NAMES, ROWS, width))
    words = {word for row in ROWS for cell in row for word in cell.split()}
    assert words <= set(text.split())
    assert "…" not in text


def test_a_wide_terminal_has_a_table_and_a_narrow_one_a_line_a_cell() -> None:
    assert [line.split()[0] for line in printed(NAMES, ROWS, 80)] == ["bytes", "1048576", "4"]
    assert printed(NAMES, ROWS, 30) == [
        "bytes: 1048576",
        "  stream: 154.02",
        "  message: 175.53",
        "  Open MPI tuned: 316.57",
        "  why: the switch does not do this",
        "bytes: 4",
        "  stream: 7.76",
        "  Open MPI tuned: -6.4%",
        "  why: policy",
    ]


def test_all_that_make_a_table_print_it_so() -> None:
    for directory in ("python/weft", "benchmarks", "tests/python/conformance"):
        for path in (TESTS.parent / directory).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert path.name == "tables.py" or not re.search(r"\.print\(\w*tables?\b", text), path


# ---- Commands on a terminal ----------------------------------------------------------------------

COMMANDS = (
    "bench allreduce --fabric tofino-4 -n 4 --sizes 1MiB --modes stream,message,ring,smpi:rdb",
    "bench bcast --fabric fdr-188 -n 4 --sizes 1MiB --modes multicast",
    "progress-engine throughput bluefield-3-dpa --threads 16",
    "progress-engine memory bluefield-3-dpa",
    "cache rate --latency 4",
    "cache jobs",
    "testbed paper",
)


def on_a_terminal(command: Sequence[str], width: int) -> str:
    """Return a command's output on a terminal of this width."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(width), "TERM": "xterm", "NO_COLOR": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "weft.cli.main", *command],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as child:
        os.close(theirs)
        text = read_all(ours)
    assert child.returncode == 0
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def read_all(descriptor: int) -> str:
    parts = []
    try:
        while part := os.read(descriptor, 4096):
            parts.append(part)
    except OSError:  # Linux's signal that the other end is closed
        pass
    os.close(descriptor)
    return b"".join(parts).decode()


def numbers(text: str) -> list[str]:
    return sorted(re.findall(r"\d[\d.,]*", text))


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_show_the_same_numbers_at_every_width(command: str, tmp_path: Path) -> None:
    texts = [on_a_terminal(command.split(), width) for width in WIDTHS]
    assert all("…" not in text for text in texts)
    assert all(set(numbers(texts[-1])) == set(numbers(text)) for text in texts[:-1])
