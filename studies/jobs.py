# SPDX-License-Identifier: LGPL-2.1-only
"""docs/jobs.md: the keys of jobs files, as defined in the code.

The study measures nothing.
"""

from studies.study import DOCS, Study, markdown
from weft.runs.jobs.file import JOB, TOP


def texts() -> dict[str, str]:
    """Return the text of each generated section."""
    rows = [
        *((f"`{name}`", key.meaning) for name, key in TOP.items()),
        *((f"`[[jobs]]` `{name}`", key.meaning) for name, key in JOB.items()),
    ]
    return {"table: jobs file": markdown(("key", ""), rows, 2)}


STUDY = Study(
    "jobs",
    "the keys of jobs files, as the program knows them",
    measure=lambda: None,
    page=DOCS / "jobs.md",
    texts=texts,
)
