# SPDX-License-Identifier: LGPL-2.1-only
"""Random collective calls of all kinds, many concurrently: results equal stock SMPI's bit for bit.

tests/smpi/random_calls generates the cases and also checks each result itself. A failing case
prints its seed and number, and `random_calls SEED NUMBER` runs it alone.
"""

from collections.abc import Callable
from functools import cache

import pytest

from tests.support import fabrics, simulated
from tests.support.simulated import Program, Result, Run

PROGRAM = "random_calls"
SWITCH = "ideal"
"""Capabilities of the switches."""
LAST = 249
"""Number of the last case of a run; the first case is 0."""
SEEDS = (1, 2, 3)
# Ranks by seed, two per host: seven leave one on the last host; eight are a power of two.
RANKS = {1: 8, 2: 7, 3: 8}
# SMPI's simplest algorithms for calls that SMPI executes, as its other algorithms have more bugs.
PLAINEST = "smpi/coll-selector:default"
# Algorithms that reduce in rank order, as weft does.
IN_ORDER = (PLAINEST, "smpi/reduce:flat_tree", "smpi/allreduce:redbcast")
NETWORKS = ("star", "tree", "together")
# Reasons why a call needs no offloading.
TRIVIAL = ("zero count", "one rank", "one host")
# Collectives that switches never execute, blocking or not.
HOSTS_DO = {"gather", "gatherv", "scatter", "scatterv", "alltoallv", "scan", "exscan"}

Stock = Callable[[int], Result]


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return a star, a tree of several switches, and that tree with per-host contributions."""
    directory = tmp_path_factory.mktemp("fabrics")
    star = fabrics.make(directory, "star", {"hosts": ["8"]}, SWITCH)
    tree = fabrics.make(directory, "fat_tree", {"down": ["2,2"], "up": ["1,2"]}, SWITCH)
    together = directory / "together.toml"
    nic = "[nic]\n"
    text = tree.read_text(encoding="utf-8").replace(nic, f'{nic}contributions = "per-host"\n')
    together.write_text(text, encoding="utf-8")
    return {"star": str(star), "tree": str(tree), "together": str(together)}


def calls(*arguments: int | str) -> list[str]:
    return [*map(str, arguments), "0", str(LAST)]


@pytest.fixture(scope="module")
def stock(program: Program) -> Stock:
    """Return stock SMPI's output for the cases of a seed."""

    @cache
    def of(seed: int) -> Result:
        result = simulated.run_stock(
            program(PROGRAM), *calls(seed), ranks=RANKS[seed], settings=(PLAINEST,)
        )
        assert result.status == 0, result.stderr
        return result

    return of


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("offload", ["stream", "message"])
@pytest.mark.slow
def test_results_are_those_of_stock_smpi(
    run: Run, stock: Stock, networks: dict[str, str], seed: int, network: str, offload: str
) -> None:
    options = ("--offload", offload, "--cfg", PLAINEST)
    result = run(PROGRAM, *calls(seed), on=networks[network], ranks=RANKS[seed], options=options)
    assert len(result.lines) == RANKS[seed] * (LAST + 1)
    assert result.lines == stock(seed).lines


@pytest.mark.parametrize("offload", ["stream", "message"])
def test_reductions_that_depend_on_their_order_are_made_in_the_order_of_ranks(
    run: Run, program: Program, networks: dict[str, str], offload: str
) -> None:
    arguments = calls("--inexact", 4)
    alone = simulated.run_stock(program(PROGRAM), *arguments, ranks=8, settings=IN_ORDER)
    assert alone.status == 0, alone.stderr
    settings = (part for setting in IN_ORDER for part in ("--cfg", setting))
    options = ("--offload", offload, *settings)
    assert run(PROGRAM, *arguments, on=networks["tree"], ranks=8, options=options).lines == (
        alone.lines
    )


def test_another_order_is_seen(program: Program) -> None:
    """Guard: some results depend on the order, so the comparison above is not trivial."""
    arguments = calls("--inexact", 4)
    result = simulated.run_stock(program(PROGRAM), *arguments, ranks=8, settings=(PLAINEST,))
    assert result.status == 1
    assert "wrong result" in result.stderr


def test_a_case_is_the_same_alone(program: Program, stock: Stock) -> None:
    alone = simulated.run_stock(program(PROGRAM), "1", "17", ranks=8, settings=(PLAINEST,))
    assert alone.lines == [line for line in stock(1).lines if line.startswith("case 17 ")]


@pytest.mark.parametrize("seed", [5, 6])
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("offload", ["stream", "message"])
@pytest.mark.slow
def test_weft_is_right_where_smpi_is_not(
    run: Run, networks: dict[str, str], seed: int, network: str, offload: str
) -> None:
    """The program determines the correct result; the record proves that weft executed the calls."""
    options = ("--offload", offload, "--cfg", PLAINEST)
    arguments = calls("--offloaded", seed)
    result = run(PROGRAM, *arguments, on=networks[network], ranks=8, options=options)
    others = [row for row in result.rows(path="fallback") if row["reason"] not in TRIVIAL]
    assert {row["reason"] for row in others} == {"collective"}
    assert {row["collective"].removeprefix("i") for row in others} == HOSTS_DO
