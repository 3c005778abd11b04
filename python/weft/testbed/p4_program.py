# SPDX-License-Identifier: LGPL-2.1-only
"""What a switch program of weft's has: tables, their keys and actions, value sets of parsers.

`read` parses a program with lark and proves that every name in it is declared, that fields exist
and that both sides of assignments and comparisons are equally wide. It is no compiler: it knows the
part of P4_16 that these programs use, and of architectures the types that they name.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from weft.base import paths
from weft.base.errors import WeftError
from weft.testbed.inventory import FOLDER

if TYPE_CHECKING:
    from lark import Lark, Token

V1MODEL = "testbed.p4"
TNA = "testbed_tna.p4"


@dataclass(frozen=True)
class Field:
    """A parameter of an action, or a part of a table's key: its name and its bits."""

    name: str
    width: int
    match: str = ""


@dataclass(frozen=True)
class Action:
    """An action of a control, by its name there."""

    control: str
    name: str
    parameters: tuple[Field, ...]


@dataclass(frozen=True)
class Table:
    """A match-action table."""

    control: str
    name: str
    key: tuple[Field, ...]
    actions: tuple[str, ...]
    size: int

    @property
    def full_name(self) -> str:
        """Its name with its control's, as runtimes have it."""
        return f"{self.control}.{self.name}"


@dataclass(frozen=True)
class ValueSet:
    """A set of values that a parser selects by."""

    parser: str
    name: str
    width: int
    size: int

    @property
    def full_name(self) -> str:
        """Its name with its parser's, as runtimes have it."""
        return f"{self.parser}.{self.name}"


@dataclass
class Program:
    """A program, by the short names of its parts, of which it has none twice."""

    source: str
    tables: dict[str, Table] = field(default_factory=dict)
    actions: dict[tuple[str, str], Action] = field(default_factory=dict)
    """By control and name."""
    value_sets: dict[str, ValueSet] = field(default_factory=dict)

    def action(self, table: Table, name: str) -> Action:
        """Return an action of a table."""
        return self.actions[table.control, name]


@cache
def shipped(name: str = V1MODEL) -> Program:
    """Return a program that weft brings along."""
    return read(paths.installed(FOLDER, name).read_text("utf-8"), name)


def read(text: str, source: str) -> Program:
    """Parse a program and prove that its parts belong together."""
    from lark import UnexpectedInput

    from weft.testbed.p4_checks import Checker

    try:
        tree = _parser(frozenset(_declared_types(text) | _KNOWN_TYPES)).parse(text)
    except UnexpectedInput as error:
        place = f"{source}:{getattr(error, 'line', '?')}:{getattr(error, 'column', '?')}"
        found = str(getattr(error, "token", None) or getattr(error, "char", "the end"))
        raise WeftError(f"{place}: this is not the P4 that weft reads: found '{found}'") from None
    checker = Checker(source, Program(source))
    checker.check(tree)
    return checker.program


# ---- Architectures -------------------------------------------------------------------------------

# Of standard_metadata_t (p4lang/p4c, p4include/v1model.p4) and of Tofino's intrinsic metadata
# (barefootnetworks/Open-Tofino, p4-examples/.../tofino.p4) what programs here name; bits by field.
ARCHITECTURES: Mapping[str, Mapping[str, int]] = {
    "standard_metadata_t": {
        "ingress_port": 9, "egress_spec": 9, "egress_port": 9, "mcast_grp": 16, "egress_rid": 16,
    },
    "ingress_intrinsic_metadata_t": {"ingress_port": 9},
    "ingress_intrinsic_metadata_from_parser_t": {},
    "ingress_intrinsic_metadata_for_deparser_t": {"drop_ctl": 3},
    "ingress_intrinsic_metadata_for_tm_t": {
        "ucast_egress_port": 9, "bypass_egress": 1, "enable_mcast_cutthru": 1, "mcast_grp_a": 16,
        "rid": 16,
    },
    "egress_intrinsic_metadata_t": {"egress_port": 9, "egress_rid": 16},
    "egress_intrinsic_metadata_from_parser_t": {},
    "egress_intrinsic_metadata_for_deparser_t": {"drop_ctl": 3},
    "egress_intrinsic_metadata_for_output_port_t": {},
}  # fmt: skip
_KNOWN_TYPES = {*ARCHITECTURES, "packet_in", "packet_out"}


def _declared_types(text: str) -> set[str]:
    names = re.findall(r"\b(?:header|struct)\s+(\w+)", text)
    return {*names, *re.findall(r"\btypedef\s+[^;]*?(\w+)\s*;", text)}


@cache
def _parser(types: frozenset[str]) -> "Lark":
    from lark import Lark, Token

    from weft.testbed.p4_grammar import GRAMMAR

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
