"""The examples that compute something and check it: cg, ft and bfs."""

from pathlib import Path

import pytest
import simulated
from simulated import STAR, WEFT, run_command

from weft import paths
from weft.toolchain import compile_c

pytestmark = pytest.mark.slow

SIZES = {"cg": ("1024", "2"), "ft": ("8", "16", "32", "2"), "bfs": ("9", "3")}


@pytest.fixture(scope="module", params=["cg", "ft", "bfs"])
def compiled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target: Path = tmp_path_factory.mktemp("examples") / request.param
    compile_c(paths.example(f"{request.param}.c"), target)
    return target


@pytest.mark.parametrize("ranks", [1, 4, 16])
def test_its_data_are_right(compiled: Path, ranks: int) -> None:
    arguments = SIZES[compiled.name]
    options = ("--fabric", "torus-4x4x4x4", "-n", str(ranks), "--offload", "off", "-q")
    ran = run_command([*WEFT, "run", *options, "--", str(compiled), *arguments])
    assert ran.status == 0, ran.stderr
    assert ran.stdout.endswith(": right\n")


def test_its_data_are_the_same_under_stock_smpi(compiled: Path) -> None:
    arguments = SIZES[compiled.name]
    command = simulated.smpirun_command(STAR, compiled, *arguments, ranks=4)
    stock = run_command(command)
    assert stock.status == 0, stock.stderr
    assert ": right" in stock.stdout


def test_wrong_data_are_said_to_be_wrong(tmp_path: Path) -> None:
    program = tmp_path / "cg"
    compile_c(paths.example("cg.c"), program)
    options = ("--fabric", "tofino-4", "-n", "4", "--offload", "off", "-q")
    # Two iterations are too few.
    ran = run_command([*WEFT, "run", *options, "--", str(program), "1024", "1", "2"])
    assert ran.status == 1
    assert ran.stdout == "cg: 1 solves of 1024 unknowns: WRONG\n"


def test_it_says_what_it_wants(compiled: Path) -> None:
    options = ("--fabric", "tofino-4", "-n", "2", "-q")
    ran = run_command([*WEFT, "run", *options, "--", str(compiled), "0", "0", "0"])
    assert ran.status == 2
    assert ran.stderr.startswith(f"usage: {compiled.name} ")
