# SPDX-License-Identifier: LGPL-2.1-only
"""weft's `openmpi-4.1` sends the same messages as Open MPI 4.1.4, on all ranks.

The table contains Open MPI's counts; `make conformance-openmpi` counts again and compares pairs of
ranks.
"""

from collections import Counter

import pytest

from studies.messages.cases import form
from studies.messages.comparison import Setting
from studies.openmpi.setups import DEFAULTS, DYNAMIC, HAN
from studies.study import read_table


@pytest.mark.parametrize(
    "setting",
    [
        one if one.ranks <= 17 else pytest.param(one, marks=pytest.mark.slow)
        for one in DEFAULTS.settings
    ],
    ids=str,
)
def test_they_are_open_mpis(setting: Setting) -> None:
    assert not DEFAULTS.different(setting)


@pytest.mark.parametrize("setting", DYNAMIC.settings, ids=str)
def test_open_mpis_files_of_rules_choose_what_they_choose_there(setting: Setting) -> None:
    assert not DYNAMIC.different(setting)
    alone = [case for case in DYNAMIC.grid(setting) if not case.uneven]
    chosen = [DYNAMIC.expected(case, setting) for case in alone]
    assert chosen != [DEFAULTS.expected(case, setting) for case in alone]


@pytest.mark.parametrize("setting", HAN.settings, ids=str)
def test_ranks_that_share_hosts_send_what_hans_do(setting: Setting) -> None:
    assert not HAN.different(setting)
    calls = list(HAN.grid(setting))
    chosen = [HAN.expected(case, setting) for case in calls]
    flat = [DEFAULTS.expected(case, setting) for case in calls]
    assert (chosen == flat) == (setting.hosts == setting.ranks)


def test_the_table_has_all_collectives_roots_operations_and_uneven_blocks() -> None:
    table = read_table(DEFAULTS.table)
    seen = Counter((row["call"], row["operation"], row["uneven"]) for row in table)
    assert len({form(called) for called, _, _ in seen}) == 2 * 17
    assert len(table) > 15_000
    assert seen["reduce", "ordered", "0"] and seen["alltoallv", "sum", "1"]
