# SPDX-License-Identifier: LGPL-2.1-only
"""docs/congestion-control.md: tables of keys, as defined by the program.

The study measures nothing.
"""

from functools import partial

from studies.fabric_files import tables
from studies.study import DOCS, Study

STUDY = Study(
    "congestion-control",
    "the keys of senders' congestion control, as the program knows them",
    measure=lambda: None,
    page=DOCS / "congestion-control.md",
    texts=partial(tables, of_senders=True),
)
