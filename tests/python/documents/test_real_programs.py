# SPDX-License-Identifier: LGPL-2.1-only
"""Real programs, unmodified and offloaded: their own checks pass.

`make real-programs` runs larger programs and writes the table of docs/real-programs.md.
"""

from pathlib import Path

import pytest

from studies.real_programs.programs import (
    FABRIC,
    SMALL,
    Program,
    fabric_with,
    nas,
    run_stock,
    run_weft,
)
from tests.support.simulated import WEFT, read_record, run_command
from weft import _core
from weft.benchmarks.measured import is_scaled
from weft.fabric.export import export

pytestmark = pytest.mark.slow

SMART = [
    name
    for name in _core.list_presets("switch")
    if name not in ("l2", "tcam", "cache") and not is_scaled(name)
]


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the fabric for plain SMPI, without computing switches."""
    directory = tmp_path_factory.mktemp("platform")
    export(_core.load_fabric(str(fabric_with("tofino", directory))), directory / "platform.xml")
    return directory / "platform.xml"


@pytest.mark.parametrize("program", SMALL, ids=lambda program: program.name)
def test_a_real_program_verifies_on_every_switch(
    program: Program, platform: Path, tmp_path: Path
) -> None:
    stock = run_stock(program, platform, tmp_path)
    assert stock.verified, stock.output
    for preset, offload in (("tofino", "off"), *((name, "stream") for name in SMART)):
        fabric = fabric_with(preset, tmp_path)
        ran = run_weft(program, fabric, tmp_path, "--offload", offload)
        assert ran.status == program.status, ran.output
        assert ran.findings == stock.findings, f"{preset}, {offload}"


@pytest.mark.parametrize("program", SMALL, ids=lambda program: program.name)
def test_a_real_program_replays_in_its_own_time(program: Program, tmp_path: Path) -> None:
    check_replay(program, tmp_path, 1e-6, "--record")


def check_replay(program: Program, directory: Path, bound: float, *options: str) -> None:
    trace, record = directory / "trace", directory / "replayed.json"
    fabric = fabric_with("sharp", directory)
    ran = run_weft(program, fabric, directory, options[0], str(trace), *options[1:])
    assert ran.status == program.status, ran.output
    replayed = run_command(
        [*WEFT, "replay", "-q", str(trace), "--fabric", str(fabric), "--json", str(record)]
    )
    assert replayed.status == 0, replayed.stderr
    again = read_record(record)["simulated_time_s"]
    assert again == pytest.approx(ran.record["simulated_time_s"], rel=bound)


def test_a_sampled_program_says_that_it_is_wrong(platform: Path, tmp_path: Path) -> None:
    """Guard for the verification: SimGrid's version of NAS EP computes only a sample."""
    sampled = run_stock(nas("ep-as-it-is", "S", 4), platform, tmp_path)
    assert sampled.findings == ("failed",)


def test_a_sampled_program_runs_as_it_is_while_computation_is_timed(tmp_path: Path) -> None:
    """SimGrid's version of NAS EP reads the clock inside its sampled loop."""
    ran = run_weft(nas("ep-as-it-is", "S", 4), FABRIC, tmp_path, "--host-speed", "76.8Gf")
    assert ran.status == 0, ran.output
    assert ran.findings == ("failed",)
    assert ran.record["simulated_time_s"] > 0.001
