# SPDX-License-Identifier: LGPL-2.1-only
"""docs/simgrid.md: the table of tunings, from the core.

The study measures nothing: src/model/tuning contains the figures.
"""

from studies.study import DOCS, Study, markdown
from weft import _core


def texts() -> dict[str, str]:
    """Return the text of each generated section."""
    rows = [
        (
            f"`{row['name']}`",
            row["simgrid"],
            row["weft"],
            row["gain"],
            row["newest"]
            if row["oldest"] == row["newest"]
            else f"{row['oldest']}, {row['newest']}",
        )
        for row in _core.tunings()
    ]
    head = ("tuning", "SimGrid", "weft", "measured gain", "knows SimGrid")
    return {"table: tunings": markdown(head, rows, len(head))}


STUDY = Study(
    "tunings",
    "the tunings, as the program knows them",
    measure=lambda: None,
    page=DOCS / "simgrid.md",
    texts=texts,
)
