# SPDX-License-Identifier: LGPL-2.1-only
"""What the compiled core tells Python: its types, and the lists that stand there once."""

import subprocess
import sys
from pathlib import Path
from typing import get_args

from weft import _core
from weft.base.units import UNITS
from weft.runs import report, request

ROOT = Path(__file__).parents[2]


def test_the_types_of_the_core_are_those_that_it_has() -> None:
    stub = [sys.executable, "setup/stub.py", "--check"]
    result = subprocess.run(stub, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, (
        f"python/weft/_core.pyi is not current: make stub\n{result.stderr}"
    )


def test_rows_have_the_keys_that_their_kinds_list() -> None:
    fabric = _core.load_fabric("tofino-4")
    kinds = {name: [key for key, _ in fields] for name, (_, fields) in _core.row_kinds().items()}
    assert list(fabric.host) == kinds["Host"]
    assert list(fabric.switches[0]) == kinds["Switch"]
    assert list(fabric.cables()[0]) == kinds["Cable"]
    assert list(_core.fabric_schema()[0]["options"][0]) == kinds["Option"]


def test_modes_are_the_core_s() -> None:
    assert list(get_args(request.Offload)) == _core.offload_modes()
    assert set(_core.offload_modes()) - set(_core.paths()) == {"auto", "off"}


def test_every_reason_for_falling_back_is_explained() -> None:
    assert set(report.REASONS) | {""} == set(_core.fallback_reasons())


def test_units_are_the_core_s() -> None:
    assert UNITS["KiB"] == 1024
    assert dict(_core.units()["bandwidth"])["Gbps"] == 125e6
    assert {kind for kind in _core.units()} == {
        *("size", "duration", "bandwidth", "speed", "frequency")
    }


def test_the_envelope_is_that_of_smpi() -> None:
    assert _core.SMPI_ENVELOPE_BYTES == 16
