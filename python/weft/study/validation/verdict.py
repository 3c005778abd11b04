# SPDX-License-Identifier: LGPL-2.1-only
"""Accuracy of gains in five lines: on machines without fitted values, and with them.

Gains come from tables with measurements of both sides. Times of hosts predicted with values fitted
to other clusters come from data/errors.csv.
"""

import math
from collections.abc import Sequence
from textwrap import fill

from weft.benchmarks.certainty import LEVEL
from weft.benchmarks.measured import HOSTS, error_rows
from weft.study.validation.gain import NEAR, GainResult, Pair

_WIDTH = 100
_NO_BREAK = "\N{NO-BREAK SPACE}"


def lines(results: Sequence[GainResult]) -> list[str]:
    """Return a Markdown list of five items."""
    unfitted = [one for one in results if one.gain.unfitted]
    fitted = [one for one in results if not one.gain.unfitted]
    items = (
        f"**Machines to which nothing was fitted:** {_gains(unfitted)}",
        f"**Hosts of such machines:** {_hosts()}",
        f"**Machines with values fitted to some of their own measurements:** {_gains(fitted)}",
        f"**Stated intervals:** {_intervals(results)}",
        f"**What an architect may conclude:** {_conclusion(results)}",
    )
    return [
        fill(
            f"- {one}".replace("%", f"{_NO_BREAK}%"),
            _WIDTH,
            subsequent_indent="  ",
            break_on_hyphens=False,
        ).replace(_NO_BREAK, " ")
        for one in items
    ]


def _pairs(results: Sequence[GainResult]) -> list[Pair]:
    return [pair for one in results for pair in one.pairs]


def _gains(results: Sequence[GainResult]) -> str:
    pairs = _pairs(results)
    tables = len({one.gain.stem for one in results})
    right = sum(pair.right for pair in pairs)
    near = sum(not pair.right and pair.near for pair in pairs)
    errors = [math.log(pair.simulated.factor / pair.measured.factor) for pair in pairs]
    others = f" ({near} of the others within {NEAR:.0%} of equality)" if near else ""
    return (
        f"of {len(pairs)} measured gains in {tables} tables, {right} have the right side{others};"
        f" the factor is {_off(errors)}."
    )


def _hosts() -> str:
    every = [row for row in error_rows() if row.side == HOSTS and row.unfitted]
    rows = [row for row in every if not row.changes]
    unnamed = [row for row in every if row.changes]
    tables = len({row.table for row in rows})
    return (
        f"{len(rows)} rows of {tables} tables, simulated with the values of other clusters, are"
        f" {_off([row.error for row in rows])}; with the default preset, which names no processor,"
        f" {_off([row.error for row in unnamed])}."
    )


def _off(logs: Sequence[float]) -> str:
    """Return the mean and the largest error of ln(simulated / measured)."""
    sizes = [abs(one) for one in logs]
    mean, worst = math.expm1(sum(sizes) / len(sizes)), math.expm1(max(sizes))
    return f"{mean:.0%} off on average, {worst:.0%} at worst"


def _intervals(results: Sequence[GainResult]) -> str:
    pairs = _pairs(results)
    unfitted = [one for one in results if one.gain.unfitted]
    fitted = [one for one in results if not one.gain.unfitted]
    return (
        f"that of `weft run --compare`, meant for {LEVEL:.0%} of cases, contains"
        f" {_inside(results)} measured gains ({sum(one.inside for one in pairs) / len(pairs):.0%})"
        f" without resting on the call itself: {_inside(unfitted)} on machines to which nothing was"
        f" fitted, by the errors of other machines only, and {_inside(fitted)} on fitted ones."
    )


def _inside(results: Sequence[GainResult]) -> str:
    pairs = _pairs(results)
    return f"{sum(pair.inside for pair in pairs)} of {len(pairs)}"


def _conclusion(results: Sequence[GainResult]) -> str:
    pairs = _pairs(results)
    told = [pair for pair in pairs if pair.tells]
    wrong = sum(not pair.right for pair in told)
    return (
        f"where the interval excludes 1, the side; that was wrong in {wrong} of {len(told)} pairs."
        f" In the other {len(pairs) - len(told)}, weft cannot tell: measure first. Switches were"
        " measured in Allreduce and Reduce_scatter only, and trees of several switches by two"
        " numbers."
    )
