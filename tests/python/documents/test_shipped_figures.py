# SPDX-License-Identifier: LGPL-2.1-only
"""Users get the figures of README and docs/accuracy.md with shipped files and default options."""

import csv
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

import weft
from tests.support.places import ROOT
from weft import _core
from weft.base.measured import log_error
from weft.benchmarks.methods import METHODS
from weft.calibrate.host.rows import HostRow, simulate_rows
from weft.calibrate.measurements.simulated import compiled, simulate_ping_pong
from weft.calibrate.measurements.tables import read_table
from weft.study.bench.benchmarks import BENCHMARKS
from weft.study.bench.micro_benchmarks import Study, run
from weft.study.validation import validate

ACCURACY = list(csv.DictReader((ROOT / "docs" / "accuracy.csv").open(encoding="utf-8")))
README = (ROOT / "README.md").read_text(encoding="utf-8")
HOSTS = ("openmpi-4.1", "openmpi-basic")


def latencies(
    fabric: str, ranks: int, ppn: int, size: int, modes: Sequence[str], method: str = "osu"
) -> list[float]:
    """Run the benchmark of `weft bench`, or a loop without barriers."""
    rows = run(
        Study(
            *(BENCHMARKS["allreduce"], fabric, [ranks], [ppn], (size,), tuple(modes)),
            type="int",
            back_to_back=METHODS[method].back_to_back,
        )
    )
    return [row.figure for row in rows]


def cells(table: str, key: int) -> list[float]:
    """Return the hosts' simulated times in a row of a table."""
    return [
        float(row["simulated_us"])
        for row in ACCURACY
        if (row["table"], row["key"]) == (Path(table).stem, str(key)) and "openmpi" in row["column"]
    ]


def test_no_check_needs_settings() -> None:
    assert [check.name for check in validate.read_checks() if check.settings] == []


@pytest.mark.parametrize(
    ("table", "ranks", "ppn"),
    [("tofino_micro_allreduce_crowded.csv", 12, 3), ("tofino_micro_allreduce_vs_ranks.csv", 8, 2)],
)
def test_the_page_of_accuracy_is_what_benchmarks_give(table: str, ranks: int, ppn: int) -> None:
    modes = HOSTS if "vs_ranks" in table else HOSTS[:1]
    found = latencies("tofino-4", ranks, ppn, 256, modes, "loop")
    assert found == pytest.approx(cells(table, ranks), abs=0.006)


def test_the_first_table_of_the_readme_is_what_benchmarks_give() -> None:
    (line,) = re.findall(r"^ +1024 +([\d.]+) +([\d.]+)$", README, re.MULTILINE)
    found = latencies("tofino-16", 16, 1, 1024, ("stream", "openmpi-5.0"))
    assert found == pytest.approx([float(one) for one in line], abs=0.006)


def test_all_shipped_fabrics_have_eager_messages() -> None:
    for name in _core.list_fabrics():
        mpi = _core.load_fabric(name).mpi
        assert mpi is not None and mpi["eager_threshold_bytes"] >= 65536, name


def test_equal_cables_carry_equal_messages() -> None:
    """Ping-pongs of tofino-16 and star-8 agree within 5 %, as does an Alltoall of 8 ranks."""
    sizes = [4, 1024, 65536, 1 << 20]
    texts = [Path(_core.load_fabric(name).file).read_text() for name in ("tofino-16", "star-8")]
    one, other = (simulate_ping_pong(text, sizes) for text in texts)
    for size in sizes:
        assert one[size] == pytest.approx(other[size], rel=0.05)
    calls = [("alltoall", 8, 1, size, 1) for size in sizes]
    ours, theirs = (
        _core.predicted_times(_core.load_fabric(name), "openmpi-4.1", calls)
        for name in ("tofino-16", "star-8")
    )
    assert ours == pytest.approx(theirs, rel=0.05)
    # 100 Gb/s is 12.5 GB/s, of which a NIC of that rate reached 12.17 (data/bw_alaska_ib.csv).
    assert 7 * (1 << 20) / ours[-1] == pytest.approx(12.0e9, rel=0.05)


@pytest.mark.parametrize(("ppn", "measured"), [(1, 0.835), (2, 0.963), (3, 0.502), (4, 0.714)])
def test_large_sums_take_the_hosts_what_was_measured(ppn: int, measured: float) -> None:
    """Within 40 % of data/tofino_bandwidth_vs_ppn.csv, column openmpi_tuned: 1 GiB vectors."""
    elements = (1 << 30) // 4
    call = ("allreduce", 4 * ppn, ppn, elements, 4)
    (seconds,) = _core.predicted_times(_core.load_fabric("tofino-4"), "openmpi-4.1", [call])
    assert 1 / 1.4 < (1 << 30) / seconds / (measured * 1e9) < 1.4


def test_a_new_fabric_is_near_what_nobody_fitted_it_to(tmp_path: Path) -> None:
    """SHARP on 32 hosts of 40 ranks uses only presets, whose guesses the run reports."""
    with pytest.warns(UserWarning, match="not measured on your devices"):
        weft.new_fabric("star", tmp_path / "new.toml", hosts=32, switch_preset="sharp")
    text = (tmp_path / "new.toml").read_text(encoding="utf-8")
    table = read_table(ROOT / "data" / "ucc_allreduce_32x40.csv", "Allreduce")
    measured = {
        HostRow("allreduce", 1280, 40, int(table.number(row, "bytes"))): (
            table.number(row, "hier_sharp_us") * 1e-6
        )
        for row in table.rows
    }
    found = simulate_rows(text, list(measured), METHODS["ucc_perftest"], offload="stream")
    with compiled("benchmark_collectives") as program:
        _, record = program.run(text, ["allreduce", "4"], 1280, ppn=40, offload="stream")
    assert log_error(found, measured).mean <= 0.6
    assert "cache_size" in (record.fabric.unmeasured or ())
