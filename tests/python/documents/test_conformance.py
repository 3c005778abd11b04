# SPDX-License-Identifier: LGPL-2.1-only
"""MPICH's tests of collectives: each test that passes under stock SMPI passes under `weft run`.

`make conformance` also runs all other tests of the suite.
"""

from pathlib import Path

import pytest

from studies.conformance.mpich_3 import make_builder, read_list
from studies.conformance.runs import Runner, make_runner
from studies.conformance.suite import Builder, Test, Under
from weft.runs.simgrid import SimGrid

pytestmark = pytest.mark.slow

COLLECTIVES = "coll"


def collective_tests() -> list[Test]:
    return [test for test in read_list(COLLECTIVES) if not test.disabled]


@pytest.fixture(scope="module")
def builders() -> tuple[Builder, Builder]:
    """Return builders with weft's compilers and with SimGrid's."""
    weft, stock = (make_builder(SimGrid(), by_weft) for by_weft in (True, False))
    return weft, stock


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return make_runner(tmp_path_factory.mktemp("conformance"))


@pytest.mark.parametrize("under", [Under.WEFT, Under.HOSTS])
@pytest.mark.parametrize("test", collective_tests(), ids=lambda test: test.name)
def test_no_program_is_lost(
    builders: tuple[Builder, Builder], runner: Runner, test: Test, under: Under
) -> None:
    program, stock = (builder.build(test.directory, test.program) for builder in builders)
    assert isinstance(program, Path), program.said
    assert isinstance(stock, Path), stock.said
    outcome = runner.run(test, program, under)
    if not outcome.passed:
        assert not runner.run(test, stock, Under.STOCK).passed, outcome.output
