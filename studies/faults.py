# SPDX-License-Identifier: LGPL-2.1-only
"""docs/faults.md: the keys of fault files, as defined by the program.

Nothing is measured.
"""

from studies.study import DOCS, Study, markdown
from weft.runs.faults.file import FAULT, RECOVERY


def texts() -> dict[str, str]:
    """Return the text of each generated section."""
    return {
        name: markdown(("key", ""), [(f"`{key}`", text) for key, text in keys.items()], 2)
        for name, keys in (("table: fault file", FAULT), ("table: recovery", RECOVERY))
    }


STUDY = Study(
    "faults",
    "the keys of fault files, as the program knows them",
    measure=lambda: None,
    page=DOCS / "faults.md",
    texts=texts,
)
