# SPDX-License-Identifier: LGPL-2.1-only
"""Records and traces use the datatype names of fabric files."""

import re
from pathlib import Path

from tests.support import simulated
from tests.support.places import ROOT
from weft import _core

NAMES = ROOT / "src" / "mpi" / "names.cpp"
# Bytes from MPI_Pack, which no reduction accepts.
NO_NUMBERS = {"MPI_PACKED"}


def test_a_switch_can_be_said_to_do_every_datatype_that_has_a_name(tmp_path: Path) -> None:
    of_types, of_operations = "HandleNames<MPI_Datatype>&", "HandleNames<MPI_Op>&"
    source = NAMES.read_text()
    part = source[source.index(of_types) : source.index(of_operations)]
    names = set(re.findall(r"WEFT_NAMED\((\w+)\)", part)) - NO_NUMBERS
    assert {"MPI_INT", "MPI_2LONG", "MPI_CXX_BOOL"} < names
    text = Path(simulated.fabric("every-type")).read_text()
    listed = ", ".join(f'"{name}"' for name in sorted(names))
    fabric = tmp_path / "all.toml"
    fabric.write_text(re.sub(r"datatypes = \[.*?\]", f"datatypes = [{listed}]", text, flags=re.S))
    assert _core.load_fabric(str(fabric)).name == "every-type"
