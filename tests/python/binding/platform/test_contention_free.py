# SPDX-License-Identifier: LGPL-2.1-only
"""Contention-free links: each message gets the full bandwidth of every link on its route."""

from pathlib import Path

import pytest

from tests.support import fabrics, simulated
from tests.support.simulated import WEFT, Program, Run, read_record, run_command, weft_says

SIZE = 1 << 22
OFF = ("--offload", "off")
FREE = (*OFF, "--no-contention")
FLOWS = ("", "unfolded", "simgrid")


def fan(run: Run, way: str, ranks: int, options: tuple[str, ...]) -> float:
    """Return the time of simultaneous messages between rank 0 and each other rank."""
    (line,) = run("fan.c", way, str(SIZE), ranks=ranks, options=options).lines
    return float(line.split()[1])


@pytest.mark.parametrize("way", ["out", "in"])
def test_messages_over_one_link_take_the_time_of_one(run: Run, way: str) -> None:
    one, shared, free = (fan(run, way, *of) for of in ((2, OFF), (4, OFF), (4, FREE)))
    assert shared == pytest.approx(3 * one, rel=0.01)
    assert free == pytest.approx(one, rel=0.01)


def clocks(
    run: Run, on: Path, options: tuple[str, ...], flows: str = ""
) -> dict[tuple[str, ...], float]:
    """Return the times at the end of parts that all ranks leave simultaneously.

    These times do not depend on the order in which messages are matched.
    """
    environment = {"WEFT_HOST_FLOWS": flows}
    lines = run("traffic.c", on=str(on), options=options, environment=environment).lines
    words = [line.split() for line in lines]
    return {(*one[:3],): float.fromhex(one[3]) for one in words if one[1] in ("gather", "alltoall")}


def test_collectives_of_the_hosts_do_not_contend_whatever_carries_their_messages(
    run: Run, tmp_path: Path
) -> None:
    on = fabrics.with_free_hosts(tmp_path, "tofino-4")
    free, unfolded, simgrids = (clocks(run, on, FREE, flows) for flows in FLOWS)
    assert unfolded == pytest.approx(free, rel=1e-6)
    assert simgrids == pytest.approx(free, rel=1e-6)
    shared = clocks(run, on, OFF)
    assert all(time <= 1.001 * shared[part] for part, time in free.items())
    assert any(time < 0.9 * shared[part] for part, time in free.items())


def test_the_table_says_that_links_do_not_contend(program: Program) -> None:
    words = ("run", "--fabric", "tofino-4", "-n", "2")
    rest = ("--", str(program("fan.c")), "out", "8")
    assert "2 hosts of tofino-4, without contention: sim" in weft_says(*words, *FREE, *rest).stderr
    assert "2 hosts of tofino-4: simulated" in weft_says(*words, *OFF, *rest).stderr


def on_platform(program: Path, record: Path, ranks: int, *options: str) -> float:
    command = [
        *(*WEFT, "run", "-q", "--platform", str(simulated.STAR), "-n", str(ranks)),
        *("--cfg", "smpi/wtime:0", *options, "--json", str(record)),
        *("--", str(program), "out", str(SIZE)),
    ]
    result = run_command(command)
    assert result.status == 0, result.stderr
    return float(result.stdout.split()[1])


def test_links_of_a_platform_do_not_contend(program: Program, tmp_path: Path) -> None:
    fans, record = program("fan.c"), tmp_path / "record.json"
    one = on_platform(fans, record, 2, *OFF)
    assert read_record(record)["contention"] is True
    free = on_platform(fans, record, 4, *FREE)
    assert read_record(record)["contention"] is False
    assert free == pytest.approx(one, rel=0.02)  # with more, some leave the barrier earlier
    assert on_platform(fans, record, 4, *OFF) > 2.5 * one


@pytest.mark.parametrize("offload", ["stream", "message", "multicast", "auto"])
def test_offloading_shares_links_and_is_refused(program: Program, offload: str) -> None:
    said = weft_says(
        *("run", "--fabric", "tofino-4", "-n", "4", "--no-contention", "--offload", offload),
        *("--", str(program("fan.c")), "out", "1"),
    )
    assert said.returncode == 2
    assert said.stderr.startswith(f"weft: --no-contention: found together with --offload {offload}")
    assert said.stderr.count("\n") == 1
