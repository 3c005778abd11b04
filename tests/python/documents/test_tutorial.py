# SPDX-License-Identifier: LGPL-2.1-only
"""The tutorial reproduces its outputs when it is run, and the scripts of examples/python work."""

import copy
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from studies import tutorial
from tests.support.places import ROOT

MOST_BYTES = 200_000
EXAMPLES = {
    "architect.py": ("256B: those above (2 of 6)", ["architect.png"]),
    "mpi_developer.py": ("by rabenseifner, 1.52 times as long", ["mpi_developer.png"]),
    "teacher.py": (
        "ring is faster: each process sends fewer bytes",
        ["teacher_ring.png", "teacher_recursive_doubling.png"],
    ),
}


def outputs(book: Any) -> Iterator[list[Any]]:
    """Yield each cell's outputs; only the presence of pictures, because fonts may differ."""
    for cell in book["cells"]:
        found = [dict(one) for one in cell.get("outputs", [])]
        for one in found:
            if "image/png" in one.get("data", {}):
                one["data"] = {**one["data"], "image/png": ""}
        yield found


@pytest.mark.slow
def test_the_tutorial_gives_what_it_shows() -> None:
    book = tutorial.read()
    stored = list(outputs(book))
    again = list(outputs(tutorial.executed(copy.deepcopy(book))))
    assert again == stored
    assert sum(len(one) for one in stored) > 8


def test_the_tutorial_says_nothing_of_the_machine() -> None:
    text = tutorial.NOTEBOOK.read_text(encoding="utf-8")
    assert len(text) < MOST_BYTES
    for word in ("/tmp", str(ROOT), str(Path.home()), "wall time", sys.version.split()[0]):
        assert word not in text
    numbers = [cell["execution_count"] for cell in tutorial.read()["cells"] if "outputs" in cell]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_example_answers_its_question_and_draws_it(name: str, tmp_path: Path) -> None:
    words, pictures = EXAMPLES[name]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    script = ROOT / "examples" / "python" / name
    ended = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=tmp_path,
        env=environment,
        text=True,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert words in ended.stdout
    for picture in pictures:
        assert min(Image.open(tmp_path / picture).size) > 300


def test_every_example_is_run() -> None:
    there = {path.name for path in (ROOT / "examples" / "python").glob("*.py")}
    assert there == set(EXAMPLES)
