# SPDX-License-Identifier: LGPL-2.1-only
"""Reader for the YAML subset in configuration files of other tools.

The subset consists of block and flow lists, block mappings and scalars, as in Slurm's topology.yaml
and ASTRA-sim's networks. Anchors, tags, multi-line strings and multiple documents are refused.
"""

import re
from dataclasses import dataclass
from typing import Any

_KEY = re.compile(
    r"(\"[^\"]*\"|'[^']*'|[^\s\"'#\[\]{}&*!|>%@`,-][^#]*?|-\S[^#]*?)\s*:(?:\s+(.*)|)$"
)
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "~": None, "": None}
_DEEPEST = 50


@dataclass(frozen=True)
class _Line:
    number: int
    indent: int
    text: str


def parse(text: str) -> Any:
    """Parse a document. Raises `ValueError` with the line and the problem."""
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        content = _COMMENT.sub("", line).rstrip()
        if not content.strip() or content.strip() == "---":
            continue
        body = content.lstrip(" ")
        if body.startswith("\t"):
            raise ValueError(f"line {number}: a tab indents it; YAML allows spaces only")
        lines.append(_Line(number, len(content) - len(body), body))
    reader = _Reader(lines)
    found = reader.block(0)
    if (rest := reader.next) is not None:
        raise ValueError(f"line {rest.number}: its indentation fits no line above")
    return found


class _Reader:
    """Position in the lines of a document."""

    def __init__(self, lines: list[_Line]) -> None:
        self._lines, self._at = lines, 0

    @property
    def next(self) -> _Line | None:
        return self._lines[self._at] if self._at < len(self._lines) else None

    def block(self, depth: int) -> Any:
        """Return the list, mapping or scalar that starts on the next line."""
        line = self.next
        if line is None:
            return None
        if depth > _DEEPEST:
            raise ValueError(f"line {line.number}: it is nested too deeply")
        if _is_item(line.text):
            return self._list(line.indent, depth)
        if _KEY.match(line.text):
            return self._mapping(line.indent, depth)
        self._at += 1
        return self._value(line.text, line.number)

    def _list(self, indent: int, depth: int) -> list[Any]:
        found = []
        while (line := self.next) and line.indent == indent and _is_item(line.text):
            rest = line.text[1:].lstrip()
            if not rest:
                self._at += 1
                found.append(self._below(indent, depth))
                continue
            inner = indent + len(line.text) - len(rest)
            self._lines[self._at] = _Line(line.number, inner, rest)
            found.append(self.block(depth + 1))
        return found

    def _mapping(self, indent: int, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while (line := self.next) and line.indent == indent and not _is_item(line.text):
            match = _KEY.match(line.text)
            if match is None:
                raise ValueError(f"line {line.number}: found '{line.text[:40]}' where a key is due")
            self._at += 1
            key = str(_scalar(match[1], line.number))
            if key in found:
                raise ValueError(f"line {line.number}: {key} is there twice")
            text = (match[2] or "").strip()
            after = self.next
            if text:
                found[key] = self._value(text, line.number)
            elif after and after.indent == indent and _is_item(after.text):
                found[key] = self._list(indent, depth + 1)
            else:
                found[key] = self._below(indent, depth)
        return found

    def _below(self, indent: int, depth: int) -> Any:
        line = self.next
        return self.block(depth + 1) if line is not None and line.indent > indent else None

    def _value(self, text: str, number: int) -> Any:
        """Return a scalar or a flow list, which may continue on further lines."""
        while text.startswith("[") and text.count("[") > text.count("]"):
            line = self.next
            if line is None:
                raise ValueError(f"line {number}: a bracket is not closed: is the file cut off?")
            text += f" {line.text}"
            self._at += 1
        if not text.startswith("["):
            return _scalar(text, number)
        if not text.endswith("]") or text.count("[") > 1:
            raise ValueError(f"line {number}: found '{text[:40]}'; allowed are lists of values")
        inner = text[1:-1].strip().rstrip(",")
        return [_scalar(part.strip(), number) for part in inner.split(",")] if inner else []


def _is_item(text: str) -> bool:
    return text == "-" or text.startswith("- ")


def _scalar(text: str, number: int) -> Any:
    if len(text) > 1 and text[0] in "\"'" and text[-1] == text[0]:
        return text[1:-1]
    if text[:1] and text[0] in "&*!|>{%@`":
        raise ValueError(
            f"line {number}: found '{text[:40]}', a part of YAML that weft does not read"
        )
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if re.fullmatch(r"[+-]?\d{1,18}", text) and not re.match(r"[+-]?0\d", text):
        return int(text)
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text) and not text.startswith(
        "0" * 2
    ):
        return float(text)
    return text
