# SPDX-License-Identifier: LGPL-2.1-only
"""The messages of weft's `openmpi-4.1` are those that Open MPI 4.1.4 sends, of all ranks.

The table has what Open MPI counted; `make conformance-openmpi` counts again and compares pairs.
"""

from collections import Counter

import pytest

from studies.openmpi.cases import RANKS, Case, cases, form, messages, summary
from studies.study import DOCS, read_table

TABLE = read_table(DOCS / "openmpi-messages.csv")


@pytest.mark.parametrize(
    "ranks", [one if one <= 17 else pytest.param(one, marks=pytest.mark.slow) for one in RANKS]
)
def test_they_are_open_mpis(ranks: int) -> None:
    rows = [row for row in TABLE if row["ranks"] == str(ranks)]
    counted = {
        Case(
            *(row["call"], int(row["count"]), row["type"], int(row["root"])),
            *(row["operation"], int(row["uneven"])),
        ): {"messages": int(row["messages"]), "bytes": int(row["bytes"]), "crc32": row["crc32"]}
        for row in rows
    }
    assert list(counted) == list(cases(ranks))
    different = [case for case in counted if summary(messages(case, ranks)) != counted[case]]
    assert not different


def test_the_table_has_all_collectives_roots_operations_and_uneven_blocks() -> None:
    seen = Counter((row["call"], row["operation"], row["uneven"]) for row in TABLE)
    assert len({form(called) for called, _, _ in seen}) == 2 * 17
    assert len(TABLE) > 15_000
    assert seen["reduce", "ordered", "0"] and seen["alltoallv", "sum", "1"]
