# SPDX-License-Identifier: LGPL-2.1-only
"""Point-to-point calibration: the fits, the fabrics written, and their simulated times."""

import itertools
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.optimize import minimize

from tests.support import compiled
from tests.support.simulated import run_command, weft_command
from weft import _core
from weft.base import paths
from weft.base.errors import WeftError
from weft.base.measured import LogError, log_error
from weft.calibrate.measurements.rounds import single_messages
from weft.calibrate.measurements.samples import Floats, read_allreduce, read_pingpong
from weft.calibrate.point_to_point import fabric_file, piecewise
from weft.calibrate.point_to_point.affine import best_affine, default_affine
from weft.calibrate.point_to_point.overheads import fit_overheads
from weft.calibrate.point_to_point.p2p import Calibration, calibrate
from weft.calibrate.point_to_point.piecewise import ENVELOPE, Piecewise, Segment, Side
from weft.cli.root import weft

AZURE = "p2p_azure_hc44rs_mpi.csv"
ALASKA = "p2p_alaska_ib.csv"
TAURUS = "p2p_taurus_ethernet.csv"
SIZES = np.array([float(1 << k) for k in range(24)])
TRUTH = Piecewise(
    (
        Segment(0, 2e-6, 1e-9),
        Segment(1024, 4e-6, 4e-10),
        Segment(65536, 20e-6, 1e-10),
    )
)


def write_csv(path: Path, sizes: Floats, seconds: Floats) -> Path:
    rows = (
        f"{int(size)},{time * 1e6!r}" for size, time in zip(sizes, seconds.tolist(), strict=True)
    )
    path.write_text("\n".join(["bytes,time_us", *rows]) + "\n")
    return path


def fitted(table: str, segments: int | None) -> Calibration:
    return calibrate(read_pingpong(paths.data(table)), segments)


def quality(calibration: Calibration, target: Path, base: str | None = None) -> LogError:
    """Return the error of the written file's simulation relative to the measurement."""
    return log_error(fabric_file.write_messages(calibration, base, target), calibration.measured)


def test_exact_times_give_the_parameters_back() -> None:
    found = piecewise.fit(SIZES, TRUTH.seconds(SIZES), 3)
    assert [segment.from_bytes for segment in found.segments] == [0, 1024, 65536]
    for segment, true in zip(found.segments, TRUTH.segments, strict=True):
        assert segment.fixed_s == pytest.approx(true.fixed_s, rel=1e-6)
        assert segment.per_byte_s == pytest.approx(true.per_byte_s, rel=1e-6)


def test_the_number_of_segments_is_found() -> None:
    sizes = np.unique(np.geomspace(1, 1 << 23, 90).astype(int)).astype(float)
    noise = np.exp(np.random.default_rng(1).normal(0, 0.005, len(sizes)))
    found = piecewise.fit_best(sizes, TRUTH.seconds(sizes) * noise)
    assert len(found.segments) == 3


def loss(ratios: Floats) -> float:
    """Return the smooth Huber loss that the fit minimises."""
    return float((0.05**2 * (np.sqrt(1 + (np.log(ratios) / 0.05) ** 2) - 1)).sum())


def deviation(sizes: Floats, seconds: Floats) -> float:
    """Return the loss of the best line, which SciPy's simplex method finds from several starts."""

    def error(logs: Floats) -> float:
        fixed, per_byte = np.exp(logs)
        return loss((fixed + per_byte * (sizes + ENVELOPE)) / seconds)

    starts = [(seconds[0], per_byte) for per_byte in (1e-15, 1e-10, 1e-9)]
    options = {"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000}
    found = [minimize(error, np.log(one), method="Nelder-Mead", options=options) for one in starts]
    return min(float(one.fun) for one in found)


def test_the_bounds_are_the_best_of_all() -> None:
    """Compare with an exhaustive search that follows the definition literally."""
    sizes = SIZES[2:13]
    seconds = TRUTH.seconds(sizes) * np.exp(np.random.default_rng(2).normal(0, 0.02, len(sizes)))
    choices = [
        (0, *bounds, len(sizes))
        for bounds in itertools.combinations(range(1, len(sizes)), 2)
        if all(b - a >= 3 for a, b in itertools.pairwise((0, *bounds, len(sizes))))
    ]
    best = min(
        sum(deviation(sizes[a:b], seconds[a:b]) for a, b in itertools.pairwise(choice))
        for choice in choices
    )
    found = piecewise.fit(sizes, seconds, 3).seconds(sizes)
    assert loss(found / seconds) == pytest.approx(best, rel=1e-3)


def test_sides_have_segments_and_limits_of_their_own() -> None:
    sides = (Side(0, 2.5e-6, 2e-10), Side(3000, least_per_byte_s=3e-10, held=True))
    found = piecewise.fit(SIZES, TRUTH.seconds(SIZES), 3, sides)
    assert 3000 in [segment.from_bytes for segment in found.segments]
    for segment in found.segments:
        if segment.from_bytes < 3000:
            assert segment.fixed_s >= 2.5e-6
            assert segment.per_byte_s >= 2e-10
        else:
            assert segment.per_byte_s == 3e-10


def test_a_row_that_is_far_off_pulls_no_line_to_it() -> None:
    seconds = TRUTH.seconds(SIZES)
    seconds[[4, 20]] *= (3.0, 2.0)
    found = piecewise.fit(SIZES, seconds, 3).seconds(SIZES)
    assert found == pytest.approx(TRUTH.seconds(SIZES), rel=0.01)


def test_auto_does_not_stop_where_one_segment_more_is_worse() -> None:
    """Times step up and down again: two segments are no better than one, but three are exact."""
    sizes = np.arange(1000.0, 1024.0)
    seconds = np.where((sizes >= 1010) & (sizes < 1013), 3e-6, 2e-6)
    one, two = (
        piecewise.criterion(piecewise.fit(sizes, seconds, n), sizes, seconds, [Side()])
        for n in (1, 2)
    )
    assert two > one
    assert len(piecewise.fit_best(sizes, seconds).segments) == 3


def test_times_that_do_not_rise_give_no_negative_factor() -> None:
    seconds = np.linspace(2e-6, 1.9e-6, len(SIZES))
    (segment,) = piecewise.fit(SIZES, seconds, 1).segments
    assert segment.fixed_s > 0
    assert segment.per_byte_s > 0


def test_affine_models_of_exact_times() -> None:
    seconds = 3e-6 + SIZES / 2e9
    best = best_affine(SIZES, seconds)
    assert (best.latency_s, best.bandwidth_Bps) == pytest.approx((3e-6, 2e9), rel=1e-4)
    assert default_affine(SIZES, seconds).latency_s == pytest.approx(3e-6 + 1 / 2e9)


@pytest.mark.parametrize(("table", "mean", "worst"), [(AZURE, 0.015, 0.07), (ALASKA, 0.01, 0.1)])
def test_what_is_written_is_near_the_measurement(
    table: str, mean: float, worst: float, tmp_path: Path
) -> None:
    calibration = fitted(table, None)
    error = quality(calibration, tmp_path / "fitted.toml")
    assert error.mean <= mean
    assert error.worst <= worst
    assert 0.25 < calibration.error("best-fit affine").mean < 0.35
    assert calibration.error("default affine").mean > calibration.error("best-fit affine").mean


def test_noise_of_single_calls_is_fitted_in_the_mean(tmp_path: Path) -> None:
    """MPI_Send and MPI_Recv over TCP, timed separately: neighbouring rows differ by a fifth."""
    assert quality(fitted(TAURUS, None), tmp_path / "fitted.toml").mean <= 0.2


def test_a_few_times_that_fall_are_noise(tmp_path: Path) -> None:
    seconds = TRUTH.seconds(SIZES)
    seconds[[5, 12]] *= 20
    seconds[18] /= 4
    read_pingpong(write_csv(tmp_path / "noisy.csv", SIZES, seconds))


def test_cables_have_the_rate_of_the_largest_messages_for_all(tmp_path: Path) -> None:
    fabric = make(tmp_path, fitted(ALASKA, None))
    (factor,) = {row["bandwidth_factor"] for row in fabric.point_to_point}
    assert factor == pytest.approx(1, rel=1e-5)
    (rate,) = {cable["bandwidth_Bps"] for cable in fabric.cables()}
    assert rate == pytest.approx(12.0e9, rel=0.01)
    mpi = fabric.mpi
    assert mpi is not None
    for row in (mpi, *mpi["overheads"]):
        assert row["send_overhead_s"] == row["receive_overhead_s"]
        assert row["send_copy_rate_Bps"] == row["receive_copy_rate_Bps"]
    last = mpi["overheads"][-1]
    assert (last["from_bytes"], last["send_overhead_s"]) == (65536, 0)


def test_a_table_below_the_line_rate_has_one_factor(tmp_path: Path) -> None:
    fabric = make(tmp_path, fitted(AZURE, None), "tofino-4")
    (factor,) = {row["bandwidth_factor"] for row in fabric.point_to_point}
    assert factor == pytest.approx(11.74 / 12.5, rel=0.005)


def test_rows_are_held_out(tmp_path: Path) -> None:
    calibration = calibrate(read_pingpong(paths.data(AZURE)), rows="even")
    sizes = list(calibration.measured)
    assert list(calibration.fitted) == sizes[1::2]
    assert list(calibration.held_out) == sizes[0::2]
    one = calibrate(read_pingpong(paths.data(AZURE)).of("even"))
    assert calibration.transfer == one.transfer
    arguments = ["calibrate", "p2p", str(paths.data(AZURE)), "--rows", "even"]
    result = CliRunner().invoke(weft, [*arguments, "-o", str(tmp_path / "out.toml")])
    assert result.exit_code == 0, result.output
    assert re.search(r"rows fitted to \(even\) +12 +3.3% +18.0%", result.stderr)
    assert re.search(r"rows held out +13 +8.4% +29.6%", result.stderr)
    assert (
        "of the even rows, to which it is fitted, 8.4% mean" in (tmp_path / "out.toml").read_text()
    )


def test_a_base_keeps_of_mpi_what_is_not_fitted(tmp_path: Path) -> None:
    base = tmp_path / "base.toml"
    text = Path(_core.load_fabric("tofino-4").file).read_text().partition("[mpi]\n")[0]
    mpi = '[mpi]\neager_threshold = "16KiB"\nsend_overhead = "1s"\n'
    base.write_text(text + mpi + '[[mpi.overheads]]\nfrom = "1KiB"\nreceive_overhead = "1s"\n')
    threshold = fabric_file.eager_threshold_of(str(base))
    calibration = calibrate(read_pingpong(paths.data(AZURE)), eager_threshold=threshold)
    made = make(tmp_path, calibration, str(base)).mpi
    assert made is not None
    assert made["eager_threshold_bytes"] == 16384
    assert made["send_overhead_s"] < 1e-5
    assert all(row["receive_overhead_s"] < 1e-5 for row in made["overheads"])
    measured = make(tmp_path, fitted(TAURUS, None), str(base)).mpi
    assert measured is not None
    assert measured["eager_threshold_bytes"] == 65536


def test_taurus_has_a_threshold_and_a_send_overhead() -> None:
    overheads = fitted(TAURUS, 3).overheads
    assert overheads is not None
    assert overheads.eager_threshold == 65536
    assert overheads.send_fixed_s == pytest.approx(3.8e-6, rel=0.1)
    # Measured time of MPI_Send for 62,793 B, the largest eager message: 10.4 us.
    assert overheads.send_seconds(np.array([62793.0]))[0] == pytest.approx(10.4e-6, rel=0.1)
    assert overheads.send_seconds(np.array([65536.0]))[0] == 0


def test_without_a_jump_there_is_no_threshold() -> None:
    assert fit_overheads(SIZES, np.full(len(SIZES), 2e-6)) is None


def make(directory: Path, calibration: Calibration, base: str | None = None) -> _core.Fabric:
    """Return the fabric that a calibration writes."""
    target = directory / "fabric.toml"
    fabric_file.write(fabric_file.render(calibration, "fitted", base), target)
    return _core.load_fabric(str(target))


@pytest.fixture(scope="module")
def ping_pong() -> Path:
    return compiled.example("pingpong")


def simulate(fabric: str, program: Path, sizes: Floats) -> Floats:
    """Return one-way times of the shipped ping-pong under `weft run`, in seconds."""
    text = ",".join(str(int(size)) for size in sizes)
    result = run_command(weft_command(program, text, "2", on=fabric, ranks=2, options=("-q",)))
    assert result.status == 0, result.stderr
    lines = [line.split() for line in result.stdout.splitlines() if not line.startswith("#")]
    assert [int(line[0]) for line in lines] == sizes.astype(int).tolist()
    return np.array([float(line[1]) for line in lines]) * 1e-6


@pytest.mark.parametrize(
    ("table", "segments", "base"),
    [(AZURE, 3, None), (AZURE, None, "tofino-4"), (TAURUS, 3, None)],
    ids=["azure", "azure on a base", "taurus"],
)
def test_the_fabric_gives_the_fitted_times_back(
    table: str, segments: int | None, base: str | None, tmp_path: Path, ping_pong: Path
) -> None:
    calibration = fitted(table, segments)
    fabric = make(tmp_path, calibration, base)
    bounds = [segment.from_bytes for segment in calibration.transfer.segments]
    sizes = np.array(
        sorted({0, 1, 64, 65535, 65536, 4 << 20, *bounds, *(b - 1 for b in bounds[1:])})
    )
    simulated = simulate(fabric.file, ping_pong, sizes)
    # The file has six digits, and the simulator rounds each core's time to nanoseconds.
    assert simulated == pytest.approx(calibration.seconds(sizes.astype(float)), rel=1e-5, abs=2e-9)


def test_a_base_keeps_all_but_its_messages(tmp_path: Path) -> None:
    base = _core.load_fabric("tofino-4")
    made = make(tmp_path, fitted(AZURE, 3), "tofino-4")
    before, after = (tomllib.loads(Path(one.file).read_text()) for one in (base, made))
    assert before.pop("point_to_point") != after.pop("point_to_point")
    assert before.pop("mpi") == {"preset": "openmpi-ucx-roce"}
    assert "send_overhead" in after.pop("mpi")
    assert before == after


def test_every_base_can_be_rewritten(tmp_path: Path) -> None:
    calibration = fitted(AZURE, 3)
    for name in _core.list_fabrics():
        base = _core.load_fabric(name)
        if len(base.hosts) > 2 and not base.route(0, 1)["through"]:  # GPUs with direct links
            with pytest.raises(WeftError, match="share a cable of their own"):
                make(tmp_path, calibration, name)
            continue
        made = make(tmp_path, calibration, name)
        assert made.mpi is not None
        assert len(made.point_to_point) + len(made.mpi["overheads"]) == 4


def test_flat_times_make_a_fabric(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "flat.csv", SIZES[:6], np.full(6, 2e-6))
    (segment,) = make(tmp_path, calibrate(read_pingpong(path), 1)).point_to_point
    assert segment["bandwidth_factor"] > 0


@pytest.mark.parametrize(
    ("rows", "segments", "problem"),
    [
        (5, None, "the table ends after 5 rows, and the models need 6"),
        (
            8,
            3,
            "3 segments do not fit into 8 rows: each needs 3 of them and 4 %, none has eager and"
            " rendezvous messages; use fewer",
        ),
    ],
)
def test_too_few_rows(tmp_path: Path, rows: int, segments: int | None, problem: str) -> None:
    path = write_csv(tmp_path / "few.csv", SIZES[:rows], TRUTH.seconds(SIZES[:rows]))
    with pytest.raises(WeftError) as error:
        calibrate(read_pingpong(path), segments)
    assert str(error.value) == f"{path}: line {rows + 1}: column 'time_us': {problem}"


def test_the_command_writes_fabric_and_figure(tmp_path: Path) -> None:
    target, figure = tmp_path / "mine.toml", tmp_path / "fit.png"
    arguments = [
        "calibrate",
        "p2p",
        str(paths.data(AZURE)),
        "-o",
        str(target),
        "--plot",
        str(figure),
    ]
    result = CliRunner().invoke(weft, arguments)
    assert result.exit_code == 0, result.output
    assert re.search(r"mine.toml, simulated +25 +1.1% +5.2%", result.stderr)
    assert "cannot be determined, because MPI_Send is not timed separately" in result.stderr
    assert _core.load_fabric(str(target)).name == "mine"
    assert figure.stat().st_size > 10_000


def test_a_bad_table_leaves_no_file(tmp_path: Path) -> None:
    table = write_csv(tmp_path / "bad.csv", SIZES, TRUTH.seconds(SIZES))
    table.write_text(table.read_text() + "1,2\n")
    target = tmp_path / "out.toml"
    result = CliRunner().invoke(weft, ["calibrate", "p2p", str(table), "-o", str(target)])
    assert isinstance(result.exception, WeftError)
    assert "line 26: column 'bytes': 1 B follows 8388608 B" in str(result.exception)
    assert not target.exists()


def test_eager_and_rendezvous_are_two_segments(tmp_path: Path) -> None:
    arguments = ["calibrate", "p2p", str(paths.data(AZURE)), "--segments", "1"]
    result = CliRunner().invoke(weft, [*arguments, "-o", str(tmp_path / "out.toml")])
    assert isinstance(result.exception, WeftError)
    assert "found 1; eager and rendezvous messages are segments of their own" in str(
        result.exception
    )


@pytest.mark.parametrize("segments", ["0", "9", "many"])
def test_segments_are_one_to_eight_or_auto(segments: str, tmp_path: Path) -> None:
    arguments = ["calibrate", "p2p", str(paths.data(AZURE)), "--segments", segments]
    result = CliRunner().invoke(weft, [*arguments, "-o", str(tmp_path / "out.toml")])
    assert result.exit_code == 2
    assert "allowed are 1 to 8, and auto" in result.output


def test_the_envelope_is_weft_s() -> None:
    from weft.fabric import platform_xml

    assert platform_xml.ENVELOPE_BYTES == ENVELOPE


def hosts_seconds(mpi: Any, size: int) -> float:
    """Return the time that a message costs on both cores, without the network."""
    if size >= mpi["eager_threshold_bytes"]:
        return 0.0
    row = [mpi, *(one for one in mpi["overheads"] if one["from_bytes"] <= size)][-1]
    return 2 * float(row["send_overhead_s"] + size / row["send_copy_rate_Bps"])


def test_the_testbed_s_fabrics_have_the_messages_of_its_allreduce() -> None:
    samples = read_allreduce(paths.data("tofino_osu_allreduce_4x1.csv"), "openmpi_tuned_us")
    messages = single_messages(samples, 4).one_way.by_size()
    # Reductions and copies of larger messages exceed a core's caches.
    measured = {size: time for size, time in messages.items() if size <= 65536}
    tofino = _core.load_fabric("tofino-4")
    latency = tofino.route(0, 1)["latency_s"]
    simulated = {}
    for size in measured:
        row = [one for one in tofino.point_to_point if one["from_bytes"] <= size][-1]
        rate = row["bandwidth_factor"] * tofino.cables()[0]["bandwidth_Bps"]
        network = row["latency_factor"] * latency + (size + ENVELOPE) / rate
        simulated[size] = (network + hosts_seconds(tofino.mpi, size)) * 1e6
    error = log_error(simulated, measured)
    assert error.mean < 0.025
    assert error.worst < 0.136
    for name in ("tofino-16", "tofino-64x64", "fat-tree-1024", "fat-tree-65536"):
        assert _core.load_fabric(name).point_to_point == tofino.point_to_point


def test_an_allreduce_is_taken_apart_into_its_messages(tmp_path: Path) -> None:
    message = dict(zip(SIZES.tolist(), TRUTH.seconds(SIZES).tolist(), strict=True))
    calls = [
        3 * message[size] if size < 8192 else 2 * sum(message[size / part] for part in (2, 4, 8))
        for size in SIZES
    ]
    table = write_csv(tmp_path / "allreduce.csv", SIZES, np.array(calls))
    found = single_messages(read_allreduce(table), 8).one_way
    expected = [message[size] for size in found.bytes.tolist()]
    assert found.seconds == pytest.approx(expected, rel=1e-6)
    assert found.bytes[-1] == SIZES[-1] / 2


def test_an_allreduce_whose_sizes_do_not_double_is_refused(tmp_path: Path) -> None:
    sizes = np.array([1024.0, 4096.0, 8192.0])
    table = write_csv(tmp_path / "allreduce.csv", sizes, np.array([1e-6, 2e-6, 3e-6]))
    with pytest.raises(WeftError, match="line 4: column 'bytes': 8192 B needs a row of 2048 B too"):
        single_messages(read_allreduce(table), 4)
