# SPDX-License-Identifier: LGPL-2.1-only
"""Data are correct for every executor (switches or hosts), also for many concurrent calls.

tests/smpi/awkward.c contains calls that used to fail. tests/smpi/random_programs generates
programs of such calls and checks every byte; a failing program prints its seed and number, and
`random_programs SEED NUMBER` runs it alone.
"""

import pytest

from tests.support import fabrics, simulated
from tests.support.simulated import Program, Run

CALLS = (
    "overlap",
    "neighbours",
    "bottom",
    "places",
    "scattered",
    "alltoallv",
    "alltoall",
    "parts",
    "strided",
    "ordered",
    "below",
    "subarray",
)
MODES = ("stream", "message", "multicast", "auto", "off")
RANDOM = "random_programs"
DISK = """
[disk]
read_bandwidth = "3GBps"
write_bandwidth = "2GBps"
latency = "50us"
"""


@pytest.fixture(scope="module")
def topologies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return fabrics of 16 hosts with disks, with per-rank and with per-host contributions."""
    directory = tmp_path_factory.mktemp("fabrics")
    found: dict[str, str] = {}
    for kind in ("star", "fat_tree", "dragonfly", "torus"):
        alone = fabrics.make(directory, kind, None, "ideal")
        with alone.open("a", encoding="utf-8") as file:
            file.write(DISK)
        together = directory / f"{kind}-per-host.toml"
        nic = "[nic]\n"
        text = alone.read_text(encoding="utf-8").replace(nic, f'{nic}contributions = "per-host"\n')
        together.write_text(text, encoding="utf-8")
        found |= {kind: str(alone), f"{kind} per host": str(together)}
    return found


@pytest.mark.parametrize("mode", MODES)
def test_awkward_calls_give_right_data(run: Run, mode: str) -> None:
    """Seven ranks are neither a power of two nor the number of hosts."""
    result = run("awkward.c", on="star-8", ranks=7, options=("--offload", mode))
    assert result.lines == sorted(f"{call} {rank}: right" for call in CALLS for rank in range(7))


def test_awkward_calls_are_what_goes_wrong(program: Program) -> None:
    """Guard: stock SMPI executes some of these calls wrongly, so the test above is not trivial."""
    result = simulated.run_stock(program("awkward.c"), "below", ranks=7)
    assert result.status != 0 or "WRONG" in result.stdout


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.usefixtures("own_directory")
def test_random_programs_are_right(run: Run, topologies: dict[str, str], mode: str) -> None:
    arguments = ("--files", "1", "0", "9")
    run(RANDOM, *arguments, on=topologies["fat_tree"], ranks=7, options=("--offload", mode))


@pytest.mark.parametrize("ranks", [5, 16, 24])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["star", "fat_tree", "dragonfly", "torus"])
@pytest.mark.slow
@pytest.mark.usefixtures("own_directory")
def test_random_programs_are_right_on_all_topologies(
    run: Run, topologies: dict[str, str], kind: str, mode: str, ranks: int
) -> None:
    where = topologies[kind if ranks != 24 else f"{kind} per host"]
    seed = str(100 * ranks + len(kind) + 10 * MODES.index(mode))
    options = ("--offload", mode, *(("--ppn", "2") if ranks == 24 else ()))
    run(RANDOM, "--files", seed, "0", "9", on=where, ranks=ranks, options=options)


@pytest.mark.parametrize("messages", ["weft", "smpi"])
def test_random_programs_are_right_with_old_forms(
    run: Run, topologies: dict[str, str], messages: str
) -> None:
    """The same exchanges in old forms: the expected values are the same."""
    options = ("--messages", messages)
    for arguments in (("2", "0", "9"), ("--old", "2", "0", "9")):
        run(RANDOM, *arguments, on=topologies["fat_tree"], ranks=7, options=options)


def test_a_wrong_byte_is_seen(run: Run) -> None:
    """Guard: the program itself corrupts every tenth result."""
    result = run(RANDOM, "--spoil", "1", "0", "3", on="fat-tree-8", ranks=7, status=1)
    assert "wrong result at byte" in result.stderr
