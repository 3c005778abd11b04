# SPDX-License-Identifier: LGPL-2.1-only
"""Two MPI programs in one simulation: SimGrid gives the MPI_COMM_WORLD of each the id -1."""

import json
from pathlib import Path

import pytest

from tests.support import compiled, simulated
from tests.support.places import TESTS
from weft.base import paths

SOURCE = TESTS / "simgrid" / "two_jobs.cpp"
RANKS = {"first": 3, "second": 4}
BASE = {"first": 1, "second": 100}


@pytest.fixture(scope="module")
def two_jobs() -> Path:
    return compiled.with_simgrid(SOURCE)


@pytest.mark.parametrize("offload", ["stream", "message", "off"])
def test_two_programs_have_communicators_of_their_own(
    two_jobs: Path, tmp_path: Path, offload: str
) -> None:
    record = tmp_path / "record.json"
    command = [str(two_jobs), str(paths.platform_library()), *map(str, RANKS.values())]
    result = simulated.run_command(
        [*command, "--log=root.thres:warning"],
        {"WEFT_FABRIC": "tofino-16", "WEFT_OFFLOAD": offload, "WEFT_RECORD": str(record)},
    )
    assert result.status == 0, result.stderr
    expected = {
        f"{name} {rank} {BASE[name] * ranks + of_all} {10 * BASE[name] * ranks + of_all}"
        for name, ranks in RANKS.items()
        for of_all in [ranks * (ranks - 1) // 2]
        for rank in range(ranks)
    }
    assert set(result.lines) == expected
    rows = json.loads(record.read_text(encoding="utf-8"))["collectives"]
    calls = {row["communicator_size"]: (row["calls"], row["path"]) for row in rows}
    path = "fallback" if offload == "off" else offload
    assert calls == {3: (2, path), 4: (2, path)}
