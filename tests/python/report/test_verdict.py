# SPDX-License-Identifier: LGPL-2.1-only
"""Verdicts at the top of a page: wording, ranges, one sentence for many programs and fabrics."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.computed_campaigns import SMALL, Row, done, made
from weft.base.units import natural_order
from weft.benchmarks.certainty import CALIBRATION, MEASUREMENTS, WORTH, Certainty, worth
from weft.campaign.file.axes import Point
from weft.report.data.study import Study
from weft.report.page.sections import answer, basis
from weft.report.page.sentences import headline
from weft.report.page.verdict import verdict
from weft.study.comparison.certainty import Side, certainty

ONE = SMALL.replace("[4, 16]", "4").replace('["1KiB", "64KiB", "1MiB"]', '"1KiB"')


def interval(low: float, high: float, basis: str = MEASUREMENTS) -> Certainty:
    return certainty(low, high, basis, [Side(0.1, [])])


def gains(by_point: Callable[[Point], float]) -> Callable[[Point], Row]:
    """Return results in which offloading has these gains."""

    def result(point: Point) -> Row:
        if point["offload"] == "off":
            return done(1.0)
        return done(1.0 / by_point(point), offloaded=10)

    return result


def study_of(folder: Path, text: str, gain: float, sure: Certainty | None) -> Study:
    study = made(folder, text, gains(lambda _: gain))
    return replace(study, library="openmpi-5.0", certainty_of=lambda row, other: sure)


@pytest.mark.parametrize(
    ("gain", "sure", "said"),
    [
        (1.06, interval(1.02, 1.11), "not worth it"),
        (1.3, interval(1.2, 1.4), "worth it"),
        (1.3, interval(0.9, 1.8), "cannot tell"),
        (1.02, interval(0.98, 1.06), "cannot tell"),
        (1.0, interval(0.997, 1.003), "not worth it"),
        (0.8, interval(0.7, 0.9), "not worth it"),
        (WORTH, None, "worth it"),
        (1.09, None, "not worth it"),
    ],
)
def test_a_gain_is_judged_by_its_size_and_interval(
    gain: float, sure: Certainty | None, said: str
) -> None:
    assert worth(gain, sure) == said


@pytest.mark.parametrize(
    ("gain", "sure", "said"),
    [
        (1.064, interval(1.02, 1.11), "Not worth it for sum on tofino-16: 1.06 times as fast as"
         " openmpi-5.0 (1.02 to 1.11, 80 %)."),
        (1.0, interval(0.9996, 1.0004), "Not worth it for sum on tofino-16: 1.00 times as fast as"
         " openmpi-5.0 (1.00 to 1.00, 80 %)."),
        (2.0, interval(1.5, 2.5), "Worth it for sum on tofino-16: 2.00 times as fast as openmpi-5.0"
         " (1.50 to 2.50, 80 %)."),
        (1.5, interval(0.9, 2.5, CALIBRATION), "Cannot tell whether it is worth it for sum on"
         " tofino-16: 1.50 times as fast as openmpi-5.0 (0.900 to 2.50, by calibration)."),
        (1.02, interval(0.98, 1.06), "Cannot tell whether it is faster for sum on tofino-16: 1.02"
         " times as fast as openmpi-5.0 (0.980 to 1.06, 80 %); not worth it in either case, as less"
         " than 1.10 times."),
        (2.0, None, "Worth it for sum on tofino-16: 2.00 times as fast as openmpi-5.0."),
    ],
)  # fmt: skip
def test_one_comparison_leads_with_its_interval(
    gain: float, sure: Certainty | None, said: str, tmp_path: Path
) -> None:
    study = study_of(tmp_path, ONE, gain, sure)
    assert verdict(study) == [said]
    assert f'<p class="answer">{said}</p>' in answer(study).splitlines()[0]
    assert "Worth it: at least 1.10 times as fast as the hosts" in basis(study)
    measured = sure is not None and sure.basis == MEASUREMENTS
    covers = "It covers the costs of collectives, which differ between the runs, but not messages"
    assert (covers in basis(study)) == measured


def test_the_verdict_is_of_the_best_mode(tmp_path: Path) -> None:
    text = ONE.replace('["stream", "off"]', '["message", "stream", "off"]')
    by_mode: Mapping[Any, float] = {"message": 1.5, "stream": 2.0}
    study = made(tmp_path, text, gains(lambda point: by_mode[point["offload"]]))
    assert verdict(study) == [
        "Worth it for sum on tofino-16 with stream: 2.00 times as fast as the hosts."
    ]


def test_combinations_that_are_worth_it_are_described(tmp_path: Path) -> None:
    study = made(tmp_path, SMALL, gains(lambda point: 2.0 if point["ranks"] == 16 else 0.5))
    assert verdict(study) == [
        "Worth it for sum on tofino-16 in 3 of 6 combinations: 0.500 to 2.00 times as fast as the"
        " hosts; those that are worth it are all with 16 ranks."
    ]


def test_many_fabrics_share_one_sentence(tmp_path: Path) -> None:
    names = ["tofino-16", "tofino-4", "hdr100-8", "star-8"]
    fabrics = ", ".join(f'"{name}"' for name in names)
    text = ONE.replace('"tofino-16"', f"[{fabrics}]")
    by_fabric: Mapping[Any, float] = dict(zip(names, (1.5, 2.0, 0.9, 1.0), strict=True))
    study = made(tmp_path, text, gains(lambda point: by_fabric[point["fabric"]]))
    assert verdict(study) == [
        "Worth it for sum on 2 of 4 fabrics: tofino-4 (2.00 times as fast as the hosts), tofino-16"
        " (1.50); not worth it for 2: star-8 (1.00), hdr100-8 (0.900)."
    ]
    assert answer(study).count('class="answer"') == 1


def test_gains_that_the_simulation_cannot_tell_have_their_interval(tmp_path: Path) -> None:
    names = ["tofino-16", "tofino-4", "hdr100-8"]
    text = SMALL.replace('"tofino-16"', "[" + ", ".join(f'"{name}"' for name in names) + "]")
    by_fabric: Mapping[Any, float] = dict(zip(names, (1.5, 1.01, 1.0), strict=True))
    study = made(
        tmp_path,
        text,
        gains(lambda point: 1.25 if point["ranks"] == 4 else by_fabric[point["fabric"]]),
    )

    def sure(row: int, other: int) -> Certainty | None:
        point = study.points[row]
        if point["fabric"] == "hdr100-8":
            return None
        if point["ranks"] == "4":
            return interval(1.2, 1.3) if point["fabric"] == "tofino-16" else interval(0.9, 1.3)
        return interval(0.875, 1.175)

    study = replace(study, certainty_of=sure)
    assert verdict(study) == [
        "Worth it in some combinations for sum on 2 of 3 fabrics: tofino-16 (1.25 to 1.50 times as"
        " fast as the hosts; 0.875 to 1.30, 80 %; cannot tell in 3), hdr100-8 (1.00 to 1.25);"
        " cannot tell for 1: tofino-4 (1.01 to 1.25; 0.875 to 1.30, 80 %)."
    ]
    counts = next(one for one in headline(study) if "tofino-4" in one)
    assert counts.endswith("in all of 6 combinations: 1.01 to 1.25 times (0.875 to 1.30, 80 %).")


def test_calls_that_all_fell_back_are_not_worth_it(tmp_path: Path) -> None:
    study = made(tmp_path, ONE, lambda _: done(1.0, reason="one host"))
    assert verdict(study) == [
        "Not worth it for sum on tofino-16: every call fell back to the hosts because all ranks of"
        " the communicator are on one host."
    ]


def test_names_are_in_natural_order() -> None:
    names = ["hdr200-512", "hdr200-64", "hdr100-8", "hdr", "fat-tree-8"]
    assert sorted(names, key=natural_order) == [
        *("fat-tree-8", "hdr", "hdr100-8", "hdr200-64", "hdr200-512"),
    ]
