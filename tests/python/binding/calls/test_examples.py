# SPDX-License-Identifier: LGPL-2.1-only
"""Examples that compute and verify a result: cg, ft and bfs."""

from pathlib import Path

import pytest

from tests.support import compiled, simulated
from tests.support.simulated import STAR, WEFT, run_command

pytestmark = pytest.mark.slow

SIZES = {"cg": ("1024", "2"), "ft": ("8", "16", "32", "2"), "bfs": ("9", "3")}


@pytest.mark.parametrize("name", ["bt", "sp", "lu", "mg"])
@pytest.mark.parametrize("ranks", [1, 4, 16])
def test_communication_of_nas_programs_is_right(name: str, ranks: int) -> None:
    options = ("--fabric", "torus-4x4x4x4", "-n", str(ranks), "--offload", "off", "-q")
    ran = run_command([*WEFT, "run", *options, "--", str(compiled.example("npb")), name])
    assert ran.stdout == f"{name} of {ranks} ranks: right\n", ran.stderr


def test_communication_of_nas_programs_wants_fitting_ranks() -> None:
    command = [*WEFT, "run", "--fabric", "tofino-16", "-n", "8", "-q", "--"]
    ran = run_command([*command, str(compiled.example("npb")), "bt"])
    assert ran.status == 2
    assert ran.stderr.startswith("usage: npb ")


@pytest.fixture(scope="module", params=["cg", "ft", "bfs"])
def example(request: pytest.FixtureRequest) -> Path:
    return compiled.example(request.param)


@pytest.mark.parametrize("ranks", [1, 4, 16])
def test_its_data_are_right(example: Path, ranks: int) -> None:
    arguments = SIZES[example.name]
    options = ("--fabric", "torus-4x4x4x4", "-n", str(ranks), "--offload", "off", "-q")
    ran = run_command([*WEFT, "run", *options, "--", str(example), *arguments])
    assert ran.status == 0, ran.stderr
    assert ran.stdout.endswith(": right\n")


def test_its_data_are_the_same_under_stock_smpi(example: Path) -> None:
    arguments = SIZES[example.name]
    command = simulated.smpirun_command(STAR, example, *arguments, ranks=4)
    stock = run_command(command)
    assert stock.status == 0, stock.stderr
    assert ": right" in stock.stdout


def test_wrong_data_are_said_to_be_wrong() -> None:
    program = compiled.example("cg")
    options = ("--fabric", "tofino-4", "-n", "4", "--offload", "off", "-q")
    # two iterations are not enough
    ran = run_command([*WEFT, "run", *options, "--", str(program), "1024", "1", "2"])
    assert ran.status == 1
    assert ran.stdout == "cg: 1 solves of 1024 unknowns: WRONG\n"


def test_it_says_what_it_wants(example: Path) -> None:
    options = ("--fabric", "tofino-4", "-n", "2", "-q")
    ran = run_command([*WEFT, "run", *options, "--", str(example), "0", "0", "0"])
    assert ran.status == 2
    assert ran.stderr.startswith(f"usage: {example.name} ")
