# SPDX-License-Identifier: LGPL-2.1-only
"""Runs docs/tutorial.ipynb in an empty folder, and stores the outputs of its cells.

The file contains nothing specific to the machine: no times, no paths, no versions. `make studies
STUDIES=tutorial` writes it; `tests/python/documents/test_tutorial.py` compares it with a new run.
"""

import os
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import nbformat
from nbclient import NotebookClient

from studies.study import DOCS, OPTION, Study
from weft.base.output import whole_file

NOTEBOOK = DOCS / "tutorial.ipynb"
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def read(file: Path = NOTEBOOK) -> Any:
    """Return the notebook."""
    return nbformat.read(file, as_version=4)  # type: ignore[no-untyped-call]


def executed(book: Any) -> Any:
    """Run all cells in a separate folder; return the notebook with their outputs."""
    with tempfile.TemporaryDirectory() as folder:
        own = {name: f"{folder}/{name}" for name in ("XDG_CACHE_HOME", "IPYTHONDIR")}
        with mock.patch.dict(os.environ, own):
            where = {"metadata": {"path": folder}}
            client = NotebookClient(
                book, timeout=300, kernel_name="python3", resources=where, record_timing=False
            )
            client.execute()
    book["metadata"] = _METADATA
    for number, cell in enumerate(book["cells"], 1):
        cell["id"] = f"cell-{number}"
    return book


def measure() -> None:
    """Rewrite the notebook."""
    text = nbformat.writes(executed(read()))  # type: ignore[no-untyped-call]
    with whole_file(OPTION, NOTEBOOK) as file:
        file.write(text.rstrip("\n") + "\n")


STUDY = Study("tutorial", "docs/tutorial.ipynb: what its cells give", measure)
