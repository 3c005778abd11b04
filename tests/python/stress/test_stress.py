# SPDX-License-Identifier: LGPL-2.1-only
"""A sample of the random runs (`make stress` is the long run, under sanitizers)."""

from pathlib import Path
from unittest import mock

import pytest

from tests.python.stress import driver
from tests.python.stress.draw import Case, Program, draw_case
from tests.python.stress.driver import REFUSED, run_case, run_cases

SEED = 7
CASES = 96
AT_ONCE = 12
"""Cases per test."""
PACKET_CASES = 12


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, CASES, AT_ONCE))
def test_random_runs_are_right(first: int) -> None:
    numbers = list(range(first, first + AT_ONCE))
    results = run_cases(SEED, numbers, sanitized=False, at_once=1)
    findings = [f"{one.number}: {one.problems[0]}" for one in results if one.problems]
    assert not findings, "\n".join(findings)
    refused = [end for one in results for end in one.ends if end.startswith(REFUSED)]
    assert len(refused) <= AT_ONCE // 4, "\n".join(refused)


@pytest.mark.slow
def test_random_runs_on_packets_are_right() -> None:
    results = run_cases(SEED, range(PACKET_CASES), sanitized=False, at_once=1, packets=True)
    findings = [f"{one.number}: {one.problems[0]}" for one in results if one.problems]
    assert not findings, "\n".join(findings)
    drawn = {feature for one in results for feature in one.drawn}
    assert {"mode jobs", "faults survivable", "flow control none"} <= drawn


def test_a_case_is_drawn_again(tmp_path: Path) -> None:
    first, second = (draw_case(1, 5, tmp_path) for _ in range(2))
    assert first == second
    assert first != draw_case(1, 6, tmp_path)
    assert "--network" in draw_case(1, 5, tmp_path, packets=True).options


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        (Program("jobs.c", ("crash", "1"), 4), "outcome signal: "),
        (Program("jobs.c", ("return", "1"), 4), "outcome exit: "),
        (Program("jobs.c", ("hang", "1"), 4), "outcome deadlock: "),
    ],
)
def test_failures_are_found(program: Program, problem: str) -> None:
    case = Case("plain", ["--fabric", "tofino-4"], {"": program})
    with mock.patch.object(driver, "draw_case", lambda *_: case):
        judged = run_case(0, 0, sanitized=False)
    assert judged.problems[0].startswith(problem)


def test_wrong_output_is_found() -> None:
    case = Case("plain", ["--fabric", "tofino-4"], {"": Program("jobs.c", ("sum", "1"), 4)})
    with (
        mock.patch.object(driver, "draw_case", lambda *_: case),
        mock.patch.object(driver, "expected_lines", lambda _: ["wrong"]),
    ):
        judged = run_case(0, 1, sanitized=False)
    assert judged.problems == ["output of jobs.c: found 'right', expected 'wrong'"]


def test_reports_of_sanitizers_are_named_by_error_and_functions() -> None:
    report = """
==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x60200 at pc 0x7f
    #0 0x7f in std::vector<int>::size() const (/usr/lib/libstdc++.so.6+0x1)
    #1 0x7f in weft::(anonymous namespace)::Choice::next(int) (/x/libweft.so+0x2)
    #2 0x7f in weft::Calls::begin() (/x/libweft.so+0x3)
"""
    name = driver.name_of_report(report)
    assert name == "sanitizer: AddressSanitizer: heap-use-after-free in next < begin"
