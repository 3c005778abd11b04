# SPDX-License-Identifier: LGPL-2.1-only
"""In-place editing of fabric files: values are set in any style of table, and comments are kept."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.places import ROOT
from weft import _core
from weft.calibrate.host.cpu import with_speed
from weft.fabric.toml_file import SourcedValue, _parts, in_toml, with_values, without_tables

FILES = sorted([*ROOT.glob("fabrics/*.toml"), *ROOT.glob("presets/*/*.toml")])
FITTED = {"overhead": SourcedValue("1us", "of the fit"), "preset": SourcedValue("b")}
WAYS = {
    "a comment at its head": '[nic]  # ours\npreset = "a"  # why\n\n[link]\nrate = 1\n',
    "blanks in its head": ' [ nic ]\n  preset = "a"\n[link]\nrate = 1\n',
    "quotes in its head": '["nic"]\npreset = "a"\n[link]\nrate = 1\n',
    "in one line": '# ours\nnic = { preset = "a" }  # why\n[link]\nrate = 1\n',
    "as keys with dots": 'nic.preset = "a"\n[link]\nrate = 1\n',
    "with tables within": '[nic]\npreset = "a"\n# inner\n[[nic.inner]]\nx = 1\n[link]\nrate = 1\n',
    "in two places": '[nic.inner]\nx = 1\n[link]\nrate = 1\n[nic]\npreset = "a"\n',
    "not at all": "[link]\nrate = 1",
}


@pytest.mark.parametrize("way", WAYS)
def test_values_are_written_however_the_table_is_written(way: str) -> None:
    text = with_values(WAYS[way], "nic", FITTED)
    found = tomllib.loads(text)
    inner = tomllib.loads(WAYS[way]).get("nic", {})
    assert found["nic"] == {**inner, "overhead": "1us", "preset": "b"}
    assert found["link"] == {"rate": 1}
    assert "overhead" in text and '"1us"  # of the fit\n' in text
    for comment in ("# ours", "# inner"):
        assert (comment in text) == (comment in WAYS[way])


BEFORE = """# head
[nic]  # ours

preset = "a"   # why
x  =  1

# of links
[link]
rate = 1
"""
AFTER = """# head
[nic]  # ours
y = 2

preset = "b"  # new
x  =  1

# of links
[link]
rate = 1
"""
TABLES = """# of a
[a]
x = 1  # beside
# of b
# too
[[b]]
# in b
y = 1
[[b]]
y = 2
# of c
[c]
"""


def test_all_else_of_a_file_stays_as_it_is() -> None:
    assert (
        with_values(BEFORE, "nic", {"preset": SourcedValue("b", "new"), "y": SourcedValue(2)})
        == AFTER
    )


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_is_the_sum_of_its_parts(file: Path) -> None:
    text = file.read_text()
    assert "".join(part for _, part in _parts(text)) == text
    assert without_tables(text, ()) == text.replace("\n\n\n", "\n\n")


def test_tables_within_others_and_arrays_have_values_too() -> None:
    text = "[a]\n[a.b]  # inner\nx = 1\n# of c\n[[c]]\nx = 1\n[[c]]\ny = 1\n"
    text = with_values(with_values(text, "a.b", {"y": 2}), "c", {"x": 3})
    assert text.startswith("[a]\n[a.b]  # inner\ny = 2\nx = 1\n# of c\n")
    assert tomllib.loads(text)["c"] == [{"x": 3}, {"y": 1, "x": 3}]
    assert tomllib.loads(with_values("[a]\n", "a.b", {"y": [1]})) == {"a": {"b": {"y": [1]}}}


def test_a_table_goes_with_the_comments_right_above_it_and_no_others() -> None:
    kept = "# of a\n[a]\nx = 1  # beside\n# of c\n[c]\n"
    assert without_tables(TABLES, ["b"]) == kept


def test_tables_that_take_turns_lose_nothing() -> None:
    """Interleaved arrays of tables are kept, although tomlkit groups them."""
    text = "[[a]]\nx = 1\n[[b]]\ny = 1\n[[a]]\nx = 2\n[c]\n"
    assert tomllib.loads(without_tables(text, ())) == tomllib.loads(text)
    assert tomllib.loads(without_tables(text, ["b"])) == {"a": [{"x": 1}, {"x": 2}], "c": {}}


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_texts_are_read_as_they_were_written(text: str) -> None:
    assert tomllib.loads(f"x = {in_toml(text)}") == {"x": text}


@pytest.mark.parametrize("head", ["[host]  # the nodes", "[ host ]"])
def test_a_calibration_is_in_the_fabric_that_it_writes(head: str, tmp_path: Path) -> None:
    path = tmp_path / "fabric.toml"
    text = Path(_core.load_fabric("tofino-4").file).read_text()
    assert "[host]\n" in text
    path.write_text(text.replace("[host]\n", f"{head}\n"))
    path.write_text(with_speed(str(path), "3Gf"))
    assert _core.load_fabric(str(path)).host["speed_flops"] == 3e9
    assert head in path.read_text()
