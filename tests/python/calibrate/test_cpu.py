# SPDX-License-Identifier: LGPL-2.1-only
"""`weft calibrate cpu`: with the measured speed, simulated computation takes its real time."""

import tomllib
from pathlib import Path

import pytest

from tests.support.simulated import WEFT, Program, read_record, run_command
from weft import _core
from weft.calibrate.host.cpu import CpuSpeed, format_speed, with_speed


def test_this_machine_is_measured_and_written(program: Program, tmp_path: Path) -> None:
    target = tmp_path / "mine.toml"
    result = run_command([*WEFT, "calibrate", "cpu", "--base", "tofino-4", "-o", str(target)])
    assert result.status == 0, result.stderr
    written = tomllib.loads(target.read_text())["host"]["speed"]
    assert result.stdout.startswith(f"{written}: one core of this machine, median of 7")
    # from an old machine under load to a new machine
    assert 1e8 < _core.load_fabric(str(target)).host["speed_flops"] < 1e12

    record = tmp_path / "run.json"
    run = [*WEFT, "run", "-q", "--fabric", str(target), "-n", "1", "--host-speed", written]
    ran = run_command([*run, "--json", str(record), "--", str(program("spinning.c")), "0.3"])
    assert ran.status == 0, ran.stderr
    assert read_record(record)["simulated_time_s"] == pytest.approx(0.3, rel=0.1)


def test_the_median_counts() -> None:
    speed = CpuSpeed((12.34567e9, 2e9, 13e9))
    assert (speed.median, speed.text) == (12.34567e9, "12.35Gf")
    assert format_speed(3e8) == "0.3Gf"


def test_a_fabric_keeps_all_but_its_speed(tmp_path: Path) -> None:
    path = tmp_path / "fabric.toml"
    path.write_text(with_speed("tofino-4", "3Gf"))
    changed, original = _core.load_fabric(str(path)), _core.load_fabric("tofino-4")
    assert changed.host == {**original.host, "speed_flops": 3e9}
    path.write_text(with_speed(str(path), "4Gf"))
    assert _core.load_fabric(str(path)).host["speed_flops"] == 4e9
    assert path.read_text().count("speed =") == 1


def test_a_table_in_one_line_gets_its_speed(tmp_path: Path) -> None:
    path = tmp_path / "fabric.toml"
    text = Path(_core.load_fabric("tofino-4").file).read_text()
    inline = text.replace('[host]\npreset = "xeon-8360"\n', "")
    assert inline != text
    path.write_text('host = {preset = "xeon-8360"}\n' + inline)
    path.write_text(with_speed(str(path), "3Gf"))
    assert _core.load_fabric(str(path)).host["speed_flops"] == 3e9


@pytest.mark.parametrize("words", [["--base", "tofino-4"], ["-o", "mine.toml"]])
def test_base_and_output_go_together(words: list[str]) -> None:
    result = run_command([*WEFT, "calibrate", "cpu", *words])
    assert result.status == 2
    assert "--base and -o require each other" in result.messages[0]
