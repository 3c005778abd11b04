# SPDX-License-Identifier: LGPL-2.1-only
"""The table of MPI's procedures, and what setup/mpi writes from it."""

import dataclasses
import re

import pytest
from mpi import c, entries, large_counts, tables, traced_calls

from tests.support.places import ROOT
from weft.base import paths

SMPI = paths.simgrid_prefix() / "include" / "smpi" / "smpi.h"
TABLE = tables.procedures(ROOT / "src" / "mpi" / "procedures")
OTHERWISE_IN_SMPI = {
    *("Pready_list", "Type_create_darray", "Get_elements", "Get_elements_x", "Add_error_string"),
    *("Pack_external", "Unpack_external", "Pack_external_size", "Compare_and_swap"),
    *("Publish_name", "Unpublish_name", "Lookup_name"),
}
"""Functions whose inputs smpi.h does not declare const, unlike MPI 4.1's appendix A.3."""
OTHER_IN_C = {
    *("Init", "Init_thread", "Cancel", "Free_mem", "Grequest_start", "Comm_create_errhandler"),
    *("Win_create_errhandler", "Group_range_incl", "Group_range_excl", "Info_create_env"),
    *("Comm_spawn", "Comm_spawn_multiple"),
    *(f"{kind}_create_keyval" for kind in ("Comm", "Type", "Win")),
    *(f"{kind}_{way}_attr" for kind in ("Comm", "Type", "Win") for way in ("get", "set")),
}
"""Functions whose parameters in C and Fortran differ in more than the language's ways."""
ROWS_OF_SMPI = [
    row
    for row in TABLE
    if row.is_in_f08 and row.name not in OTHERWISE_IN_SMPI | OTHER_IN_C and row.result != "none"
]


DEFINITION = re.compile(r"^WEFT_INTERPOSED [\w* ]+? P?MPI_(\w+)\(([^)]*)\)\s*\{", re.MULTILINE)
PARAMETER = re.compile(r"\s*(.+?[ *])(?:/\*\w+\*/|\w+)?((?:\[\d*\])*)\s*")
ONLY_IN_C = re.compile(r"\w+_(c2f|f2c)|Abi_\w+|Register_datarep|File_get_type_extent_c")
"""Functions that Fortran lacks or that have a callback, which the table does not describe."""


def functions(rows: list[tables.Procedure]) -> dict[str, c.Function]:
    return c.functions(rows, SMPI)


def types(function: c.Function) -> list[str]:
    return [one.type + one.suffix for one in function.parameters]


def test_derived_prototypes_are_smpis() -> None:
    theirs = {name: one for name, one in functions(ROWS_OF_SMPI).items() if one.is_smpis}
    assert len(theirs) > 250
    derived = c.functions(ROWS_OF_SMPI, ROOT / "src" / "compilers" / "include" / "mpi" / "mpi.h")
    assert {name: types(derived[name]) for name in theirs} == {
        name: types(one) for name, one in theirs.items()
    }


def without_spaces(parameter: str) -> str:
    return "".join(parameter.replace("[]", "*", 1).split())


def type_of(parameter: str) -> str:
    found = PARAMETER.fullmatch(parameter)
    return without_spaces(found[1] + found[2] if found else parameter)


def test_definitions_by_hand_have_the_tables_parameters() -> None:
    known = functions(TABLE)
    definitions = [
        (name, [type_of(one) for one in parameters.split(",") if one.strip()])
        for path in (ROOT / "src" / "binding").rglob("*.cpp")
        for name, parameters in DEFINITION.findall(path.read_text(encoding="utf-8"))
        if not ONLY_IN_C.fullmatch(name)
    ]
    assert len(definitions) > 180
    aliases = {"MPI_User_function_c*": "LargeOperation*"}
    assert [
        (name, found)
        for name, found in definitions
        if found != [aliases.get(one, one) for one in map(without_spaces, types(known[name]))]
    ] == []


def test_a_row_makes_all_forms() -> None:
    """A function that nobody wrote gets its wrapper, large-count form, error handler and line."""
    added = "  Allfoo sendbuf:buffer sendcount:count sendtype:Datatype comm:Comm"
    row = tables.procedure("Collective Communication", f"{added} | own | SendBuffer Comm")
    known = functions([row])
    assert list(known) == ["Allfoo", "Allfoo_c"]
    assert (
        "int MPI_Allfoo(const void* sendbuf, int sendcount, MPI_Datatype sendtype, MPI_Comm comm);"
    ) in entries.prototypes(known.values())
    assert 'return weft::handled(comm, "MPI_Allfoo", PMPI_Allfoo(' in entries.handled(
        known.values()
    )
    assert "const LargeElements sendcount_(sendcount, sendtype);" in large_counts.text(known)
    assert "  X(Allfoo, SendBuffer, Comm)" in traced_calls.text([row])


def test_a_timed_function_is_made_by_its_way() -> None:
    text = "  Wait request:Request= status:Status> | waits direct hidden | WaitsForAll"
    row = tables.procedure("Point-to-Point Communication", text)
    written = entries.timed(functions([row]).values())
    assert 'static MpiFunction function{"MPI_Wait", CallKind::waits, false};' in written
    assert "const PersistentScope scope(1, request, 1, status);" in written
    assert "return direct_Wait(THEIRS, request, status);" in written


@pytest.mark.parametrize("row", [row for row in TABLE if row.roles], ids=lambda row: row.name)
def test_roles_are_declared(row: tables.Procedure) -> None:
    declared = (ROOT / "src" / "trace" / "calls.hpp").read_text(encoding="utf-8")
    assert row.roles
    assert all(re.search(rf"^struct {role};", declared, re.MULTILINE) for role in row.roles)


@pytest.mark.parametrize(
    "wrong",
    ["  Foo buf", "  Foo buf:thing", "  Foo buf:buffer | own | Comm | more", "Foo buf:buffer"],
)
def test_a_wrong_row_is_named(wrong: str) -> None:
    with pytest.raises(ValueError, match="not a"):
        tables.procedure("Datatypes", wrong)


def test_ways_of_both_forms_are_kept() -> None:
    row = tables.procedure("Datatypes", "  Foo count:count newtype:Datatype> | own, own_c")
    small, large = functions([row]).values()
    assert (small.row.ways, large.row.ways) == (("own", "own_c"), ("own",))
    assert dataclasses.replace(row, ways=()) != row
