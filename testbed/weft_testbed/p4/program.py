# SPDX-License-Identifier: LGPL-2.1-only
"""Parser of the shipped switch programs.

`read` parses a program with lark and checks that every name is declared, that fields exist, and
that both sides of assignments and comparisons have the same width. It is not a compiler: it covers
the subset of P4_16 that these programs use, and the architecture types that they name.
"""

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from weft.base.errors import WeftError
from weft_testbed.hardware.inventory import FOLDER
from weft_testbed.p4.declarations import ARCHITECTURES, Program

if TYPE_CHECKING:
    from lark import Lark, Token

V1MODEL = "testbed.p4"
TNA = "testbed_tna.p4"


@cache
def shipped(name: str = V1MODEL) -> Program:
    """Return a shipped program."""
    return read((FOLDER / name).read_text("utf-8"), name)


def read(text: str, source: str) -> Program:
    """Parse a program and check its consistency."""
    from lark import UnexpectedInput

    from weft_testbed.p4.checks import Checker

    try:
        tree = _parser(frozenset(_declared_types(text) | _KNOWN_TYPES)).parse(text)
    except UnexpectedInput as error:
        place = f"{source}:{getattr(error, 'line', '?')}:{getattr(error, 'column', '?')}"
        found = str(getattr(error, "token", None) or getattr(error, "char", "the end"))
        raise WeftError(f"{place}: unsupported P4: found '{found}'") from None
    checker = Checker(source, Program(source))
    checker.check(tree)
    return checker.program


_KNOWN_TYPES = {*ARCHITECTURES, "packet_in", "packet_out"}


def _declared_types(text: str) -> set[str]:
    names = re.findall(r"\b(?:header|struct)\s+(\w+)", text)
    return {*names, *re.findall(r"\btypedef\s+[^;]*?(\w+)\s*;", text)}


@cache
def _parser(types: frozenset[str]) -> "Lark":
    from lark import Lark, Token

    from weft_testbed.p4.grammar import GRAMMAR

    def told(token: "Token") -> Any:
        return Token.new_borrow_pos("TYPE", token, token) if str(token) in types else token

    return Lark(
        GRAMMAR,
        start="program",
        parser="lalr",
        lexer="basic",
        propagate_positions=True,
        maybe_placeholders=True,
        lexer_callbacks={"WORD": told},
    )
