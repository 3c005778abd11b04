# SPDX-License-Identifier: LGPL-2.1-only
"""The YAML subset used in files of other tools."""

from typing import Any

import pytest

from weft.runs.jobs.simple_yaml import parse


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("a: 1\nb: [ 1.5, x, 'y z' ]  # c\n", {"a": 1, "b": [1.5, "x", "y z"]}),
        (
            "---\n- a: n[01-02]\n  b: true\n- c\n-\n  - 1\n",
            [{"a": "n[01-02]", "b": True}, "c", [1]],
        ),
        ("a:\n- 1\n- 2\nb:\n  - x: 1\n    y:\n", {"a": [1, 2], "b": [{"x": 1, "y": None}]}),
        ("a: [1,\n  2]\n", {"a": [1, 2]}),
        ("name: 007\nother: 1:2\n", {"name": "007", "other": "1:2"}),
        ("", None),
    ],
)
def test_what_is_read(text: str, content: Any) -> None:
    assert parse(text) == content


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\n  b: 2\n", "line 2: its indentation fits no line above"),
        ("a: 1\nb\n", "line 2: found 'b' where a key is due"),
        ("a: 1\na: 2\n", "line 2: a is there twice"),
        ("a: [1\n", "line 1: a bracket is not closed"),
        ("a: &x 1\n", "line 1: found '&x 1', a part of YAML that weft does not read"),
        ("\ta: 1\n", "line 1: a tab indents it"),
        ("".join(f"{' ' * k}a{k}:\n" for k in range(60)), "it is nested too deeply"),
    ],
)
def test_what_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=r"^line") as error:
        parse(text)
    assert problem in str(error.value)
