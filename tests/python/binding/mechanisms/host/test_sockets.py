# SPDX-License-Identifier: LGPL-2.1-only
"""Sockets of hosts: ranks stay on their socket in every communicator."""

from pathlib import Path

import pytest

from tests.support.simulated import Run
from weft import _core
from weft.benchmarks.methods import METHODS
from weft.calibrate.host.rows import HostRow, simulate_rows

_SOCKETS = ("host.sockets=2", "host.intersocket_latency=3us")


def _options(*changes: str) -> list[str]:
    words = ["--ppn", "4", "--fallback", "allreduce=recursive_doubling", "--offload", "off"]
    return [*words, "--cfg", "smpi/wtime:0", *(word for one in changes for word in ("--set", one))]


def test_ranks_keep_their_sockets_in_communicators(run: Run) -> None:
    # Ranks 0 and 2 share a socket; rank 1 is on the other socket.
    times = {}
    for changes in ((), _SOCKETS):
        lines = run("sockets.c", ranks=4, options=_options(*changes)).lines
        times[changes] = {line.split()[0]: float(line.split()[1]) for line in lines}
    assert times[_SOCKETS]["2"] == pytest.approx(times[()]["2"], rel=1e-9)
    assert times[_SOCKETS]["1"] == pytest.approx(times[()]["1"] + 3e-6, rel=1e-9)


def test_predictions_have_the_sockets_of_runs() -> None:
    """Reductions of 8 MB exceed all caches: four ranks share the memories of two sockets."""
    changes = (*_SOCKETS, "host.memory_bandwidth=5GBps", "host.cache_size=0B")
    algorithm, row = "allreduce=recursive_doubling", HostRow("allreduce", 4, 4, 8_000_000)

    def predicted(*more: str) -> float:
        fabric = _core.load_fabric("tofino-4", (*changes, *more))
        call = (row.collective, row.ranks, row.ppn, row.bytes // 4, 4.0)
        return _core.predicted_times(fabric, algorithm, [call])[0]

    text = Path(_core.load_fabric("tofino-4").file).read_text(encoding="utf-8")
    simulated = simulate_rows(text, [row], METHODS["osu"], fallback=algorithm, changes=changes)
    assert simulated[row] == pytest.approx(predicted(), rel=1e-3)
    assert predicted() > 1.2 * predicted("host.memory_bandwidth=1TBps")
