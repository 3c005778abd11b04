# SPDX-License-Identifier: LGPL-2.1-only
"""Point-to-point calibration: the fits, their fabric, and what its simulation gives back."""

import itertools
import math
import re
import tomllib
from pathlib import Path

import compiled
import numpy as np
import pytest
from click.testing import CliRunner
from simulated import run_command, weft_command

from weft import _core
from weft.base import paths
from weft.base.errors import WeftError
from weft.calibrate import fabric_file, piecewise
from weft.calibrate.affine import best_affine, default_affine
from weft.calibrate.overheads import fit_overheads
from weft.calibrate.p2p import Calibration, calibrate
from weft.calibrate.piecewise import ENVELOPE, Piecewise, Segment
from weft.calibrate.rounds import single_messages
from weft.calibrate.samples import Floats, read_allreduce, read_pingpong
from weft.cli.root import weft

AZURE = "p2p_azure_hc44rs_mpi.csv"
TAURUS = "p2p_taurus_ethernet.csv"
SIZES = np.array([float(1 << k) for k in range(24)])
TRUTH = Piecewise(
    (
        Segment(0, 2e-6, 1e-9, 1),
        Segment(1024, 4e-6, 4e-10, 1),
        Segment(65536, 20e-6, 1e-10, 1),
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


def quality(calibration: Calibration) -> tuple[float, float]:
    error = calibration.error(next(iter(calibration.models)))
    return error.mean, error.worst


def test_exact_times_give_the_parameters_back() -> None:
    found = piecewise.fit(SIZES, TRUTH.seconds(SIZES), 3)
    assert [segment.from_bytes for segment in found.segments] == [0, 1024, 65536]
    for segment, true in zip(found.segments, TRUTH.segments, strict=True):
        assert segment.fixed_s == pytest.approx(true.fixed_s, rel=1e-6)
        assert segment.per_byte_s == pytest.approx(true.per_byte_s, rel=1e-6)
    assert found.correlation == pytest.approx(1)


def test_cross_validation_finds_the_number_of_segments() -> None:
    sizes = np.unique(np.geomspace(1, 1 << 23, 90).astype(int)).astype(float)
    noise = np.exp(np.random.default_rng(1).normal(0, 0.005, len(sizes)))
    found = piecewise.fit_best(sizes, TRUTH.seconds(sizes) * noise)
    assert len(found.segments) == 3


def test_the_bounds_are_the_best_of_all() -> None:
    """Of every choice, by the plain definition of the weighted correlation."""
    sizes = SIZES[:12]
    seconds = TRUTH.seconds(sizes) * np.exp(np.random.default_rng(2).normal(0, 0.1, len(sizes)))

    def correlation(first: int, end: int) -> float:
        weights = seconds[first:end] ** -2.0
        matrix = np.cov(sizes[first:end], seconds[first:end], aweights=weights)
        return max(1e-12, float(matrix[0, 1]) / math.sqrt(matrix[0, 0] * matrix[1, 1]))

    choices = [
        (0, *bounds, len(sizes))
        for bounds in itertools.combinations(range(1, len(sizes)), 2)
        if all(b - a >= 3 for a, b in itertools.pairwise((0, *bounds, len(sizes))))
    ]
    best = max(
        math.prod(correlation(a, b) for a, b in itertools.pairwise(choice)) for choice in choices
    )
    assert piecewise.fit(sizes, seconds, 3).correlation == pytest.approx(best)


def test_a_bound_can_be_set() -> None:
    found = piecewise.fit(SIZES, TRUTH.seconds(SIZES), 2, bound=3000)
    assert [segment.from_bytes for segment in found.segments] == [0, 3000]


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


def test_azure_three_segments_and_auto_against_the_affine_models() -> None:
    three, auto = fitted(AZURE, 3), fitted(AZURE, None)
    assert quality(three)[0] <= 0.035
    assert quality(auto)[0] <= 0.015
    assert quality(auto)[1] <= 0.07
    assert 0.25 < three.error("best-fit affine").mean < 0.35
    assert three.error("default affine").mean > three.error("best-fit affine").mean


def test_taurus_has_a_threshold_and_a_send_overhead() -> None:
    overheads = fitted(TAURUS, 3).overheads
    assert overheads is not None
    assert overheads.eager_threshold == 65536
    assert overheads.send_fixed_s == pytest.approx(3.8e-6, rel=0.1)
    # What MPI_Send took at 62,793 B, the largest eager message: 10.4 us.
    assert overheads.send_seconds(np.array([62793.0]))[0] == pytest.approx(10.4e-6, rel=0.1)
    assert overheads.send_seconds(np.array([65536.0]))[0] == 0


def test_without_a_jump_there_is_no_threshold() -> None:
    assert fit_overheads(SIZES, np.full(len(SIZES), 2e-6)) is None


def make(directory: Path, calibration: Calibration, base: str | None = None) -> _core.Fabric:
    """The fabric that a calibration writes."""
    target = directory / "fabric.toml"
    fabric_file.write(fabric_file.render(calibration, "fitted", base), target)
    return _core.load_fabric(str(target))


@pytest.fixture(scope="module")
def ping_pong() -> Path:
    return compiled.example("pingpong")


def simulate(fabric: str, program: Path, sizes: Floats) -> Floats:
    """One-way times of the shipped ping-pong under `weft run`, in seconds."""
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
    # The program prints picoseconds.
    assert simulated == pytest.approx(calibration.seconds(sizes.astype(float)), rel=1e-6, abs=1e-14)


def test_a_base_keeps_all_but_its_messages(tmp_path: Path) -> None:
    base = _core.load_fabric("tofino-4")
    made = make(tmp_path, fitted(AZURE, 3), "tofino-4")
    before, after = (tomllib.loads(Path(one.file).read_text()) for one in (base, made))
    assert before.pop("point_to_point") != after.pop("point_to_point")
    assert before == after


def test_every_base_can_be_rewritten(tmp_path: Path) -> None:
    calibration = fitted(AZURE, 3)
    for name in _core.list_fabrics():
        assert len(make(tmp_path, calibration, name).point_to_point) == 3


def test_flat_times_make_a_fabric(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "flat.csv", SIZES[:6], np.full(6, 2e-6))
    (segment,) = make(tmp_path, calibrate(read_pingpong(path), 1)).point_to_point
    assert segment["bandwidth_factor"] > 0


@pytest.mark.parametrize(
    ("rows", "segments", "problem"),
    [
        (5, 3, "the table ends after 5 rows, and 3 segments need 9"),
        (5, None, "the table ends after 5 rows, and the models need 6"),
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
    assert re.search(r"piecewise linear, 3 segments +3.1% +16.7%", result.stderr)
    assert "cannot be determined: MPI_Send is not timed apart" in result.stderr
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


@pytest.mark.parametrize("segments", ["0", "9", "many"])
def test_segments_are_one_to_eight_or_auto(segments: str, tmp_path: Path) -> None:
    arguments = ["calibrate", "p2p", str(paths.data(AZURE)), "--segments", segments]
    result = CliRunner().invoke(weft, [*arguments, "-o", str(tmp_path / "out.toml")])
    assert result.exit_code == 2
    assert "allowed are 1 to 8, and auto" in result.output


def test_the_envelope_is_weft_s() -> None:
    from weft.fabric import platform_xml

    assert platform_xml.ENVELOPE_BYTES == ENVELOPE


def test_the_testbed_s_fabrics_have_the_messages_of_its_allreduce() -> None:
    samples = read_allreduce(paths.data("tofino_osu_allreduce_4x1.csv"), "openmpi_tuned_us")
    calibration = calibrate(single_messages(samples, 4), 5)
    made = tomllib.loads(fabric_file.render(calibration, "ignored", "tofino-4"))
    for name in ("tofino-4", "tofino-16", "tofino-64x64", "fat-tree-1024", "fat-tree-65536"):
        shipped = _core.load_fabric(name).point_to_point
        for have, fit in zip(shipped, made["point_to_point"], strict=True):
            assert have["from_bytes"] == float(fit["from"].removesuffix("B"))
            assert have["latency_factor"] == pytest.approx(fit["latency_factor"], rel=3e-3)
            assert have["bandwidth_factor"] == pytest.approx(fit["bandwidth_factor"], rel=1e-3)


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
