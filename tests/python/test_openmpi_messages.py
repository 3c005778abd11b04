# SPDX-License-Identifier: LGPL-2.1-only
"""The messages of weft's `openmpi-4.1` are those that Open MPI 4.1.4 sends, of all ranks.

The table has what Open MPI counted; `make conformance-openmpi` counts again and compares pairs.
"""

from collections import Counter

import pytest

from studies.openmpi.cases import DEFAULTS, DYNAMIC, Case, Setup, cases, form, messages, summary
from studies.study import read_table


def counted(setup: Setup, ranks: int) -> dict[Case, dict[str, object]]:
    """Return what Open MPI counted, by call."""
    return {
        Case(
            *(row["call"], int(row["count"]), row["type"], int(row["root"])),
            *(row["operation"], int(row["uneven"])),
        ): {"messages": int(row["messages"]), "bytes": int(row["bytes"]), "crc32": row["crc32"]}
        for row in read_table(setup.table)
        if row["ranks"] == str(ranks)
    }


def check(setup: Setup, ranks: int) -> None:
    """Compare all calls of so many ranks."""
    table = counted(setup, ranks)
    assert list(table) == list(cases(setup, ranks))
    different = [case for case in table if summary(messages(setup, case, ranks)) != table[case]]
    assert not different


@pytest.mark.parametrize(
    "ranks",
    [one if one <= 17 else pytest.param(one, marks=pytest.mark.slow) for one in DEFAULTS.ranks],
)
def test_they_are_open_mpis(ranks: int) -> None:
    check(DEFAULTS, ranks)


@pytest.mark.parametrize("ranks", DYNAMIC.ranks)
def test_open_mpis_files_of_rules_choose_what_they_choose_there(ranks: int) -> None:
    check(DYNAMIC, ranks)
    alone = [case for case in cases(DYNAMIC, ranks) if not case.uneven]
    assert any(messages(DYNAMIC, case, ranks) != messages(DEFAULTS, case, ranks) for case in alone)


def test_the_table_has_all_collectives_roots_operations_and_uneven_blocks() -> None:
    table = read_table(DEFAULTS.table)
    seen = Counter((row["call"], row["operation"], row["uneven"]) for row in table)
    assert len({form(called) for called, _, _ in seen}) == 2 * 17
    assert len(table) > 15_000
    assert seen["reduce", "ordered", "0"] and seen["alltoallv", "sum", "1"]
