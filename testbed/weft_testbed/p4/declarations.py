# SPDX-License-Identifier: LGPL-2.1-only
"""Declarations of a switch program: tables, their keys and actions, value sets of parsers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

# Fields with their bits, as far as weft's programs use them, of standard_metadata_t (p4lang/p4c,
# p4include/v1model.p4) and of Tofino's intrinsic metadata (barefootnetworks/Open-Tofino,
# p4-examples/.../tofino.p4).
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


@dataclass(frozen=True)
class Field:
    """Parameter of an action, or key field of a table: name and bits."""

    name: str
    width: int
    match: str = ""


@dataclass(frozen=True)
class Action:
    """Action of a control, by its name there."""

    control: str
    name: str
    parameters: tuple[Field, ...]


@dataclass(frozen=True)
class Table:
    """Match-action table."""

    control: str
    name: str
    key: tuple[Field, ...]
    actions: tuple[str, ...]
    size: int

    @property
    def full_name(self) -> str:
        """Name qualified by its control, as used by runtimes."""
        return f"{self.control}.{self.name}"


@dataclass(frozen=True)
class ValueSet:
    """Set of values that a parser selects by."""

    parser: str
    name: str
    width: int
    size: int

    @property
    def full_name(self) -> str:
        """Name qualified by its parser, as used by runtimes."""
        return f"{self.parser}.{self.name}"


@dataclass
class Program:
    """Program, by the short names of its parts, which are unique."""

    source: str
    tables: dict[str, Table] = field(default_factory=dict)
    actions: dict[tuple[str, str], Action] = field(default_factory=dict)
    """Actions by control and name."""
    value_sets: dict[str, ValueSet] = field(default_factory=dict)

    def action(self, table: Table, name: str) -> Action:
        """Return an action of a table."""
        return self.actions[table.control, name]
