# SPDX-License-Identifier: LGPL-2.1-only
"""Progress of runs that take long."""

import os
import pty
import re
import subprocess
import sys
import termios
from contextlib import suppress
from pathlib import Path

import pytest

import weft
from tests.support import compiled
from tests.support.simulated import weft as run_weft
from weft.runs.progress import lines, page
from weft.runs.progress.lines import Runs
from weft.runs.progress.page import RunProgress

BUSY = r"""
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Lets a millisecond pass in the simulation, and sleeps as long on the machine, many times. */
int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  for (int turn = 0; turn < atoi(argv[1]); ++turn) {
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(1000);
    volatile double sum = 0;
    for (long at = 0; at < 2000000; ++at)
      sum += at;
  }
  MPI_Finalize();
  return 0;
}
"""


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> str:
    source = tmp_path_factory.mktemp("busy") / "busy.c"
    source.write_text(BUSY)
    return str(compiled.program(source))


def line(runs: Runs, wall_s: float, simulated_s: float, calls: int = 0) -> str:
    return runs.line(RunProgress(wall_s, simulated_s, calls))


def test_a_line_says_what_is_known_and_no_end() -> None:
    assert line(Runs(), 20, 0.004, 50_000) == ("20 s: simulated 4 ms, 200 us/s, 2,500 MPI calls/s")
    assert line(Runs(), 20, 0) == "20 s: no time simulated yet"


def test_rates_are_those_since_the_last_line(capsys: pytest.CaptureFixture[str]) -> None:
    runs = Runs(first_s=10)
    for wall_s in (5, 10, 12, 30, 31, 70, 71):
        runs.take(RunProgress(wall_s, 1e-3 * wall_s**2, 10 * wall_s))
    assert capsys.readouterr().err.splitlines() == [
        "weft: 10 s: simulated 100 ms, 10 ms/s, 10 MPI calls/s",
        "weft: 30 s: simulated 900 ms, 40 ms/s, 10 MPI calls/s",
        "weft: 70 s: simulated 4.9 s, 100 ms/s, 10 MPI calls/s",
    ]


def test_only_ended_runs_that_are_alike_give_a_time_that_is_left() -> None:
    runs = Runs(3)
    assert "left" not in line(runs, 20, 1.0)
    runs.ended(40)
    assert line(runs, 10, 1.0).startswith("run 2 of 3, 10 s: ")
    assert line(runs, 10, 1.0).endswith(", about 70 s left")
    # A run that takes longer than the first has no known end.
    assert "left" not in line(runs, 41, 1.0)
    runs.ended(60)
    assert line(runs, 10, 1.0).endswith(", about 40 s left")
    other = Runs(2, alike=False)
    other.ended(40)
    assert line(other, 10, 1.0).startswith("run 2 of 2, ")
    assert "left" not in line(other, 10, 1.0)


def test_lines_fit_80_columns() -> None:
    runs = Runs(3)
    runs.ended(35_000)
    for wall_s in (30_000, 36_000):
        text = f"weft: {line(runs, wall_s, 123.456, 10**12)}"
        assert len(text) <= 80, text
        assert text.isascii() and text.isprintable()


def test_a_run_reports_the_simulated_time_and_its_calls(busy: str) -> None:
    seen: list[RunProgress] = []
    ends: list[float] = []

    class Listener:
        def take(self, now: RunProgress) -> None:
            seen.append(now)

        def ended(self, wall_time_s: float) -> None:
            ends.append(wall_time_s)

    with page.reported_to(Listener()):
        record = weft.run(busy, ["400"], fabric="tofino-4", ranks=2)
    assert record.ended
    assert seen and len(ends) == 1
    last = seen[-1]
    assert 0 < last.simulated_time_s <= record.simulated_time_s
    assert 0 < last.calls <= sum(row.calls for row in record.mpi_calls)
    times = [one.simulated_time_s for one in seen]
    assert times == sorted(times)


def test_nobody_listens_no_page(tmp_path: Path) -> None:
    assert page.page(tmp_path) == ""
    assert not list(tmp_path.iterdir())


def test_long_runs_print_lines_and_quiet_ones_none(
    busy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("--fabric", "tofino-4", "-n", "2", "--", busy, "400")
    monkeypatch.setattr(lines, "_FIRST_IN_LOGS_S", 0.6)
    said = run_weft("run", *options)
    assert re.search(r"^weft: 1 s: simulated .* MPI calls/s$", said.stderr, re.MULTILINE)
    assert "MPI calls/s" not in run_weft("run", "-q", *options).stderr


@pytest.mark.parametrize("terminal", ["dumb", "xterm"])
def test_lines_on_terminals_overwrite_nothing(busy: str, terminal: str) -> None:
    """A terminal of 80 columns shows whole lines, without control characters."""
    options = ("--fabric", "tofino-4", "-n", "2", "--compare", "--", busy, "250")
    code = (
        "import sys; from weft import entry; from weft.runs.progress import lines;"
        "lines._FIRST_S = 0.6; sys.argv[0] = 'weft'; sys.exit(entry.main())"
    )
    main, other = pty.openpty()
    termios.tcsetwinsize(other, (24, 80))
    child = subprocess.Popen(
        [sys.executable, "-c", code, "run", *options],
        env={**os.environ, "TERM": terminal},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=other,
    )
    os.close(other)
    shown = b""
    with suppress(OSError):  # the terminal closes
        while part := os.read(main, 1 << 16):
            shown += part
    os.close(main)
    assert child.wait() == 0
    found = [one for one in shown.decode().splitlines() if "/s, " in one]
    assert found and all(one.startswith("weft: run ") and len(one) <= 80 for one in found)
    assert not any("\r" in one or "\x1b" in one for one in found)
    assert found[0].startswith("weft: run 1 of 3, 1 s: ") and "left" not in found[0]
    assert any(one.startswith("weft: run 2 of 3, ") and "about" in one for one in found)
