# SPDX-License-Identifier: LGPL-2.1-only
"""weft's `mpich-4` sends the same messages as MPICH 4.0.2, on all ranks.

The table contains the counts; `make conformance-mpich` counts again and compares pairs of ranks.
"""

from collections import Counter

import pytest

from studies.messages.cases import form
from studies.messages.comparison import Setting
from studies.mpich.__main__ import DEFAULTS
from studies.study import read_table

QUICK = ("3", "8", "5/2", "6%2")


@pytest.mark.parametrize(
    "setting",
    [
        one if one.name in QUICK else pytest.param(one, marks=pytest.mark.slow)
        for one in DEFAULTS.settings
    ],
    ids=str,
)
def test_they_are_mpichs(setting: Setting) -> None:
    assert not DEFAULTS.different(setting)


def test_the_table_has_all_collectives_operations_and_hosts() -> None:
    table = read_table(DEFAULTS.table)
    seen = Counter((row["call"], row["operation"], row["uneven"]) for row in table)
    assert len({form(called) for called, _, _ in seen}) == 2 * 17
    assert seen["reduce", "ordered", "0"] and seen["iallreduce", "own", "0"]
    assert {"8", "8/2", "8/1", "6%2"} <= {row["ranks"] for row in table}
