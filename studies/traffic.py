# SPDX-License-Identifier: LGPL-2.1-only
"""docs/traffic.md: the keys of traffic files, as defined in the code.

The study measures nothing.
"""

from studies.study import DOCS, Study, markdown
from weft.runs.traffic.file import TRAFFIC


def texts() -> dict[str, str]:
    """Return the text of each generated section."""
    rows = [(f"`{name}`", key.meaning) for name, key in TRAFFIC.items()]
    return {"table: traffic file": markdown(("key", ""), rows, 2)}


STUDY = Study(
    "traffic",
    "the keys of traffic files, as the program knows them",
    measure=lambda: None,
    page=DOCS / "traffic.md",
    texts=texts,
)
