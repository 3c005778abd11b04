# SPDX-License-Identifier: LGPL-2.1-only
"""Open MPI as it is, and with a file of rules: what is called, and what of it is compared."""

from collections.abc import Iterator
from pathlib import Path

from studies.messages.cases import RANKS, Case, calls, form
from studies.messages.comparison import Setting, Setup
from studies.study import DOCS

RULES = Path(__file__).with_name("rules.conf")


def every(setting: Setting) -> Iterator[Case]:
    """Yield the grid's calls of so many ranks."""
    yield from calls(setting.ranks)


def plain(setting: Setting) -> Iterator[Case]:
    """Yield those that block, with one datatype and operation: rules know no others."""
    for case in calls(setting.ranks):
        if form(case.called)[1] and (case.operation, case.type) == ("sum", "int"):
            yield case


DEFAULTS = Setup(
    "openmpi-4.1", DOCS / "openmpi-messages.csv", [Setting(ranks) for ranks in RANKS], every
)
DYNAMIC = Setup(
    f"openmpi-4.1+{RULES}",
    DOCS / "openmpi-rules-messages.csv",
    [Setting(ranks) for ranks in (3, 5, 8, 12)],
    plain,
    (
        *("--mca", "coll_tuned_use_dynamic_rules", "1"),
        *("--mca", "coll_tuned_dynamic_rules_filename", str(RULES)),
    ),
)
SETUPS = (DEFAULTS, DYNAMIC)
