# SPDX-License-Identifier: LGPL-2.1-only
"""weft in a notebook, where an event loop runs in the main thread and streams are not files."""

import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.support.places import ROOT

EXAMPLES = ROOT / "examples"
FOREVER = "#include <mpi.h>\nint main(void) { MPI_Init(0, 0); for (volatile int on = 1; on;); }\n"
CAMPAIGN = """
program = weft.Program(source="latency.c", arguments=["{bytes:B}", 2], privatize=False)
campaign = weft.Campaign(
    "small", programs={"latency": program},
    axes={"fabric": "tofino-4", "ranks": 4, "bytes": ["4B", "1KiB"], "switch.slots": [64, SLOTS]},
)
results = campaign.run()
results
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with spaces in its name, with a home directory other than the user's."""
    place = tmp_path / "my notebooks"
    place.mkdir()
    shutil.copy(EXAMPLES / "allreduce_latency.c", place / "latency.c")
    (place / "forever.c").write_text(FOREVER)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    return place


def client(folder: Path, *cells: str) -> NotebookClient:
    books: Any = nbformat.v4
    book = books.new_notebook(cells=[books.new_code_cell(cell) for cell in cells])
    where = {"metadata": {"path": str(folder)}}
    return NotebookClient(book, timeout=120, kernel_name="python3", resources=where)


def outputs(book: Any) -> Iterator[list[Any]]:
    for cell in book.cells:
        yield [*cell.outputs]


def data(output: Any, kind: str = "text/plain") -> str:
    return str(output["data"][kind])


@pytest.mark.slow
def test_runs_and_campaigns_in_a_notebook(folder: Path) -> None:
    book = client(
        folder,
        "import weft\nrecord = weft.run('latency.c', ['4,1024', 2], fabric='tofino-4', ranks=4)\n"
        "record",
        "_ = weft.run('latency.c', ['4,1024', 2], fabric='tofino-4', ranks=4, on_line=print)",
        "weft.compare('latency.c', arguments=['4,1024', 2], fabric='tofino-4', ranks=4)",
        "weft.Fabric('tofino-4')",
        CAMPAIGN.replace("SLOTS", "128"),
        # Polars has started its threads, and the workers are forked from this process.
        "results.frame()['simulated_time_s'].n_unique()",
        CAMPAIGN.replace("SLOTS", "256"),
        "import asyncio\n"
        "both = [asyncio.to_thread(weft.run, 'latency.c', ['4,1024', 2], fabric='tofino-4',"
        " ranks=4) for _ in range(2)]\n"
        "[one.simulated_time_s == record.simulated_time_s for one in await asyncio.gather(*both)]",
        "weft.run('latency.c', fabric='tofino-4', rank=4)",
    )
    book.allow_errors = True
    book.execute()
    run, heard, compared, fabric, first, number, second, both, wrong = outputs(book.nb)
    assert "<table" in data(run[0], "text/html")
    assert data(run[0]).startswith("<Record: 4 ranks on tofino-4")
    assert "latency_us" in heard[0]["text"]
    assert "times as fast (" in data(compared[0], "text/html")
    assert "<svg" in data(fabric[0], "text/html")
    assert data(first[0]) == "small: 4 runs: 4 done"  # final state of the progress line
    assert "<table" in data(first[1], "text/html")
    assert data(number[0]) == "2"
    assert data(second[0]) == "small: 4 runs: 4 done"
    assert data(both[0]) == "[True, True]"
    assert wrong[0]["ename"] == "ArgumentError"
    assert wrong[0]["evalue"] == "weft.run: no argument 'rank'; did you mean ranks?"


def processes(program: str) -> list[str]:
    found = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = line.read_bytes().split(b"\0")
        except OSError:
            continue
        if any(word.decode(errors="replace").endswith(f"/{program}") for word in words):
            found.append(line.parent.name)
    return found


@pytest.mark.slow
def test_interrupting_a_cell_ends_the_simulator(folder: Path) -> None:
    shutil.move(folder / "forever.c", folder / "interrupted_cell.c")
    book = client(
        folder,
        "import weft\nweft.run('interrupted_cell.c', fabric='tofino-4', ranks=2)",
        "1 + 1",
    )
    book.allow_errors = True
    interrupted = threading.Event()

    def interrupt() -> None:
        until = time.monotonic() + 60
        while not processes("interrupted_cell") and time.monotonic() < until:
            time.sleep(0.1)
        time.sleep(0.5)
        manager: Any = book.km
        manager.provisioner.process.send_signal(2)
        interrupted.set()

    thread = threading.Thread(target=interrupt)
    thread.start()
    book.execute()
    thread.join()
    first, second = outputs(book.nb)
    assert interrupted.is_set()
    assert first[0]["ename"] == "KeyboardInterrupt"
    assert data(second[0]) == "2"
    assert processes("interrupted_cell") == []
