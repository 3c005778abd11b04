# SPDX-License-Identifier: LGPL-2.1-only
"""Python interface of the compiled core: its types, and its enumerations."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.places import ROOT
from weft import _core
from weft.base import paths
from weft.base.units import UNITS
from weft.runs import offload_modes
from weft.runs.offload_modes import REASONS


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
    names = [row["name"] for row in _core.mechanisms()]
    assert [*names, "auto", "off"] == _core.offload_modes()
    assert ["fallback", *names] == _core.paths()
    assert list(offload_modes.meanings()) == _core.offload_modes()
    assert offload_modes.DEFAULT == "stream"  # also the default of runs
    assert {row["rest"] for row in _core.mechanisms()} <= {"", *names}


def test_every_reason_for_falling_back_is_explained() -> None:
    assert set(REASONS) | {""} == set(_core.fallback_reasons())


@pytest.mark.parametrize(
    ("fabric", "change", "said"),
    [
        (
            "tofino-4",
            "switch.slots=abc",
            'fabric tofino-4 with switch.slots=abc: [switch] slots: found "abc"',
        ),
        (
            "hdr100-8",
            "link.latncy=1us",
            "fabric hdr100-8 with link.latncy=1us: [link] latncy: unknown key",
        ),
        ("tofino-4", "switch", 'fabric tofino-4: found the change "switch"; '),
        (
            "hdr100-8",
            "nic.host_bcast=binominal",
            "fabric hdr100-8 with nic.host_bcast=binominal: [nic] host_bcast: found"
            ' "binominal"; did you mean "binomial"? allowed: an algorithm for bcast',
        ),
    ],
)
def test_shipped_fabrics_are_called_by_their_names(fabric: str, change: str, said: str) -> None:
    """Errors must not show the long path of the installation."""
    for found in (fabric, str(paths.installed("fabrics", f"{fabric}.toml"))):
        with pytest.raises(_core.UserError) as caught:
            _core.load_fabric(found, [change])
        assert str(caught.value).startswith(said)
        assert "site-packages" not in str(caught.value)
    assert _core.load_fabric(fabric).file == str(paths.installed("fabrics", f"{fabric}.toml"))


@pytest.mark.parametrize("text", ["", "[fabric]\nname = 'mine'\n", "[topology]\nkind = 'star'\n"])
def test_an_empty_fabric_file_is_told_the_keys_to_begin_with(text: str, tmp_path: Path) -> None:
    """The error names the first keys, instead of all required keys of every table."""
    file = tmp_path / "mine.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(_core.UserError) as caught:
        _core.load_fabric(str(file))
    said = str(caught.value)
    assert said.startswith(f"{file}: these keys are missing: ")
    assert (
        "[host] preset, [nic] preset, [switch] preset, [link] bandwidth and latency; `weft" in said
    )
    assert len(said) - len(str(file)) < 210
    assert ("[fabric] name" in said) == ("[fabric]" not in text)
    assert ("[topology] kind" in said) == ("[topology]" not in text)


def test_units_are_the_core_s() -> None:
    assert UNITS["KiB"] == 1024
    assert dict(_core.units()["bandwidth"])["Gbps"] == 125e6
    assert {kind for kind in _core.units()} == {
        *("size", "duration", "bandwidth", "speed", "frequency")
    }


def test_the_envelope_is_that_of_smpi() -> None:
    assert _core.SMPI_ENVELOPE_BYTES == 16
