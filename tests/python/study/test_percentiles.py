# SPDX-License-Identifier: LGPL-2.1-only
"""Percentiles in `weft bench`: with noise, or on request."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from weft import _core
from weft.base.errors import WeftError
from weft.cli.root import weft
from weft.study.bench.benchmarks import BENCHMARKS
from weft.study.bench.micro_benchmarks import Study, run
from weft.study.bench.quantiles import Sampling, parse_percentiles, percentiles_of

JITTER = '\n[[noise.link]]\njitter = "2us"\ndistribution = "exponential"\n'


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("noisy") / "noisy-4.toml"
    path.write_text(Path(_core.load_fabric("tofino-4").file).read_text() + JITTER)
    return str(path)


def test_percentiles_are_numbers_up_to_a_hundred() -> None:
    assert parse_percentiles("95, 5,50,5", "--percentiles") == (5, 50, 95)
    for text in ("", "5,", "x", "-1", "101", "nan", "inf"):
        with pytest.raises(WeftError) as error:
            parse_percentiles(text, "--percentiles")
        assert str(error.value) == (
            f"--percentiles: found '{text}'; allowed: numbers from 0 to 100, as 5,50,95"
        )


def test_percentiles_lie_between_two_times() -> None:
    assert percentiles_of([4, 1, 3, 2], (0, 50, 100)) == {0: 1, 50: 2.5, 100: 4}
    assert percentiles_of([], ()) == {}


def test_noise_makes_more_calls_and_has_percentiles(noisy: str) -> None:
    assert Sampling.of("tofino-4", (), None, None, 10) == Sampling(10)
    assert Sampling.of(noisy, (), None, None, 10) == Sampling(100, (5, 50, 95))
    assert Sampling.of(noisy, (), 7, (50,), 10) == Sampling(7, (50,))
    noise = ('noise.link=[{jitter="1us",distribution="fixed"}]',)
    assert Sampling.of("tofino-4", noise, None, (), 10) == Sampling(100)


def test_without_noise_all_calls_are_alike_and_timing_each_changes_nothing() -> None:
    study = Study(BENCHMARKS["allreduce"], "tofino-4", [4], [None], [1024], ["stream"], type="int")
    (each,) = run(replace(study, percentiles=(0, 50, 100)))
    (mean,) = run(study)
    assert each.figure == mean.figure
    least, median, most = each.percentiles_us.values()
    assert least < median < most  # ranks leave OSU's barrier at different times
    (loop,) = run(replace(study, percentiles=(0, 50, 100), back_to_back=True))
    assert list(loop.percentiles_us.values()) == pytest.approx([loop.figure] * 3, abs=2e-4)


def test_the_command_shows_and_writes_percentiles(noisy: str, tmp_path: Path) -> None:
    target = tmp_path / "times.csv"
    options = ["--fabric", noisy, "-n", "4", "--sizes", "1KiB", "--modes", "stream", "--seed", "3"]
    for collective in ("allreduce", "allgather"):
        command = ["bench", collective, *options, "--iterations", "40", "--csv", str(target)]
        result = CliRunner().invoke(weft, command, env={"COLUMNS": "200"}, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        assert "P50(us)" in result.output and "P95(us)" in result.output
        with target.open() as file:
            (row,) = csv.DictReader(file)
        low, median, high = (float(row[f"p{one}_us"]) for one in (5, 50, 95))
        # On these switches, the hosts execute an Allgather with several consecutive messages.
        assert low < median < high
        assert low < float(row["latency_us"]) < high
        assert high - low > 2
