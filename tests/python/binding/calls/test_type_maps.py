# SPDX-License-Identifier: LGPL-2.1-only
"""Derived datatypes: bounds, packing and messages of random types follow the MPI standard."""

import pytest

from tests.support.simulated import Run


def test_random_types_have_the_bounds_and_the_data_of_their_type_maps(run: Run) -> None:
    assert run("type_maps.c", "1", "1000", ranks=2).stdout == "1000 types\n"


@pytest.mark.parametrize("options", [(), ("--messages", "smpi"), ("--offload", "off")])
def test_types_without_data_move_nothing(run: Run, options: tuple[str, ...]) -> None:
    assert run("empty_types.c", options=options, ranks=4).lines == ["right"] * 4
