# SPDX-License-Identifier: LGPL-2.1-only
"""Links that a platform turns off during a run: calls that need such a link do not complete."""

from pathlib import Path
from typing import Protocol

import pytest

from tests.support import simulated
from tests.support.simulated import Program, Result

INTS = 1_000_000
BREAKS_S = 0.001
"""Time of failure, well before 4 MB have crossed a link of 1 Gb/s."""
OFF = f"is off at {BREAKS_S} s of simulated time"
CALL = f"MPI_Allreduce({INTS} x MPI_INT, MPI_SUM) on MPI_COMM_WORLD"


def platform(path: Path, link: str, at_s: float) -> Path:
    """Write a star of three hosts around a smart switch, with a link that is turned off."""
    hosts = "".join(
        f'<host id="host-{n}" speed="1Gf" core="8"/>'
        f'<link id="cable-{n}" bandwidth="1Gbps" latency="1us"/>'
        f'<link id="memory-{n}" bandwidth="1Gbps" latency="1us"/>'
        for n in range(3)
    )
    routes = "".join(
        f'<route src="host-{n}" dst="switch"><link_ctn id="cable-{n}"/></route>'
        f'<route src="host-{n}" dst="host-{n}" symmetrical="NO"><link_ctn id="memory-{n}"/></route>'
        for n in range(3)
    )
    path.write_text(
        f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="star" routing="Floyd">
    {hosts}
    <host id="switch" speed="1Gf">
      <prop id="processing_latency" value="1us"/><prop id="max_ports" value="8"/>
      <prop id="contributions" value="per-host"/>
    </host>
    {routes}
  </zone>
  <trace id="breaks" periodicity="1000000">0 1
{at_s} 0</trace>
  <trace_connect kind="LINK_AVAIL" trace="breaks" element="{link}"/>
</platform>
""",
        encoding="utf-8",
    )
    return path


class Broken(Protocol):
    """Runs a collective while a link fails."""

    def __call__(
        self,
        offload: str,
        link: str = "cable-1",
        *,
        collective: str = "allreduce",
        ranks: int = 3,
        at_s: float = BREAKS_S,
    ) -> Result: ...


@pytest.fixture
def broken(tmp_path: Path, program: Program) -> Broken:
    def run(
        offload: str,
        link: str = "cable-1",
        *,
        collective: str = "allreduce",
        ranks: int = 3,
        at_s: float = BREAKS_S,
    ) -> Result:
        record = tmp_path / "record.json"
        command = simulated.weft_command(
            program("collectives.c"),
            *(collective, str(INTS), "0", "10"),
            ranks=ranks,
            options=("--offload", offload, "--json", str(record)),
        )
        at = command.index("--fabric")
        star = platform(tmp_path / "star.xml", link, at_s)
        command[at : at + 2] = ["--platform", str(star)]
        ended = simulated.run_command(command)
        return Result(ended.status, ended.stdout, ended.stderr, simulated.read_record(record))

    return run


@pytest.mark.parametrize(
    ("offload", "link", "collective", "ranks", "who"),
    [
        ("stream", "cable-1", "allreduce", 3, CALL),
        ("stream", "cable-1", "iallreduce", 3, CALL.replace("Allreduce", "Iallreduce")),
        # Messages between the ranks of one host.
        ("stream", "memory-1", "allreduce", 6, CALL),
        ("message", "cable-1", "allreduce", 3, CALL),
        ("message", "cable-1", "iallreduce", 3, CALL.replace("Allreduce", "Iallreduce")),
        ("off", "cable-1", "allreduce", 3, CALL),
    ],
)
def test_what_needs_a_link_that_is_turned_off_fails_and_says_so(
    broken: Broken, offload: str, link: str, collective: str, ranks: int, who: str
) -> None:
    result = broken(offload, link, collective=collective, ranks=ranks)
    outcome = result.record["outcome"]
    assert (result.status, outcome["kind"]) == (1, "network-failure"), result.stderr
    assert outcome["message"].startswith(f'link "{link}" {OFF}, and ')
    assert who in outcome["message"]
    assert f"weft: {outcome['message']}" in result.stderr.splitlines()
    assert "simgrid" not in result.stderr
    assert result.record["simulated_time_s"] == pytest.approx(BREAKS_S)
    # no rank has received its result
    assert result.stdout == ""
    assert result.rows(path=offload) == []


@pytest.mark.parametrize("offload", ["stream", "message", "off"])
def test_a_link_that_breaks_after_the_run_is_none_of_its_business(
    broken: Broken, offload: str
) -> None:
    result = broken(offload, at_s=10.0)
    assert (result.status, result.record["outcome"]["kind"]) == (0, "completed"), result.stderr
    assert 0.03 < result.record["simulated_time_s"] < 10
