# SPDX-License-Identifier: LGPL-2.1-only
"""Mutations of texts that resemble users' mistakes and corrupt files."""

import random
import re
from collections.abc import Sequence

_NUMBERS = (
    *("-1", "0", "1", "-0", "007", "1e400", "-1e400", "nan", "inf", "-inf", "1e-300", "1e300"),
    *("2147483647", "2147483648", "-2147483649", "9223372036854775808", "1" * 40, "9" * 5000),
    *("0x10", "1_000", "1.5", "1,5", "١٢٣", "1e6", "1e9", "4294967296", "true", "null", '""'),
)
_WORDS = (
    *(
        "\x00",
        "\x1b[31m",
        "\\u001b[2J",
        "\\u0000",
        "\x9b",
        "\u202e",
        "\ufeff",
        "é",
        "\udcff",
        "\r\n",
    ),
    *("$\\frac$", "$", "%s%n", "{}", "[", "]", "[[", "]]", "{", "}", '"', "'", "=", ",", ":", ";"),
    *("[" * 3000, '{"a":' * 3000, "a" * 5000, "../../../etc/passwd", "/dev/null", " ", "\t", "#"),
    *("*", "?", "**", "[1-999999]", "node-[1-4096]", "--", "-", "MPI_INT", "off", "100Gbps", "1us"),
)
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_QUOTED = re.compile(r'"[^"\n]*"')
HOSTILE: Sequence[str] = (*_NUMBERS, *_WORDS, "")


def mutated(text: str, others: Sequence[str], dice: random.Random) -> bytes:
    """Return a text with one to four mutations, some of which splice in parts of `others`."""
    for _ in range(dice.choice((1, 1, 1, 2, 2, 3, 4))):
        text = dice.choice(_ALL)(text, others, dice)[:200_000]
    raw = text.encode("utf-8", "surrogateescape")
    if dice.random() < 0.03 and raw:
        at = dice.randrange(len(raw))
        raw = raw[:at] + bytes([dice.randrange(256)]) + raw[at + 1 :]
    return raw


def _in_place_of(
    pattern: re.Pattern[str], news: Sequence[str], text: str, dice: random.Random
) -> str:
    found = list(pattern.finditer(text))
    if not found:
        return text + dice.choice(news)
    one = dice.choice(found)
    return text[: one.start()] + dice.choice(news) + text[one.end() :]


def _number(text: str, _others: Sequence[str], dice: random.Random) -> str:
    return _in_place_of(_NUMBER, _NUMBERS, text, dice)


def _quoted(text: str, others: Sequence[str], dice: random.Random) -> str:
    words = [f'"{word}"' for word in HOSTILE] + _QUOTED.findall(dice.choice(others))
    return _in_place_of(_QUOTED, words, text, dice)


def _insert(text: str, _others: Sequence[str], dice: random.Random) -> str:
    at = dice.randint(0, len(text))
    return text[:at] + dice.choice(HOSTILE) + text[at:]


def _delete(text: str, _others: Sequence[str], dice: random.Random) -> str:
    at = dice.randint(0, len(text))
    return text[:at] + text[at + dice.choice((1, 1, 2, 8, 40, 400)) :]


def _cut(text: str, _others: Sequence[str], dice: random.Random) -> str:
    return text[: dice.randint(0, len(text))]


def _lines(text: str, others: Sequence[str], dice: random.Random) -> str:
    lines = text.split("\n")
    k = dice.randrange(len(lines))
    what = dice.randrange(4)
    if what == 0:
        del lines[k]
    elif what == 1:
        lines[k:k] = [lines[k]] * dice.choice((1, 1, 3, 300))
    elif what == 2:
        lines.insert(dice.randint(0, len(lines)), lines.pop(k))
    else:
        lines.insert(k, dice.choice(dice.choice(others).split("\n")))
    return "\n".join(lines)


def _splice(text: str, others: Sequence[str], dice: random.Random) -> str:
    other = dice.choice(others)
    return text[: dice.randint(0, len(text))] + other[dice.randint(0, len(other)) :]


_ALL = (_number, _number, _quoted, _quoted, _insert, _delete, _cut, _lines, _lines, _splice)
