# SPDX-License-Identifier: LGPL-2.1-only
"""Classes in src/binding/: none has so many methods that it hides several."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from studies.rooms import SRC

MOST_METHODS = 30
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
CLASS = re.compile(r"\b(?:class|struct) (\w+)[^;{()]*\{")
METHOD = re.compile(
    r"\b\w+\s*\([^;]*?\)\s*(?:const)?\s*(?:noexcept)?\s*(?:override)?\s*(?:= \w+)?\s*[;}]"
)


def body(text: str, start: int) -> str:
    """Return a class's text from its opening brace on, without the bodies of its functions."""
    depth, outer = 1, ""
    for character in text[start:]:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth == 0:
            break
        if depth == 1:
            outer += character
    return outer


def methods_of_classes(text: str) -> Iterator[tuple[str, int]]:
    code = COMMENT.sub("", text)
    for found in CLASS.finditer(code):
        yield found[1], len(METHOD.findall(body(code, found.end())))


def test_methods_are_counted() -> None:
    text = """
    class Two { // and a comment (with parentheses);
      int value_ = 3;
      struct Inner { int (*hook)(int); } inner_;
    public:
      int one() const { return value_; }
      void two(int a, int b) override;
    };
    """
    assert dict(methods_of_classes(text))["Two"] == 2


@pytest.mark.parametrize(
    "header", sorted((SRC / "binding").rglob("*.hpp")), ids=lambda one: one.stem
)
def test_no_class_has_too_many_methods(header: Path) -> None:
    counts = dict(methods_of_classes(header.read_text(encoding="utf-8")))
    assert {name: count for name, count in counts.items() if count > MOST_METHODS} == {}
