# SPDX-License-Identifier: LGPL-2.1-only
"""Iterations on the terminal: where their time goes, and what different algorithms make of it."""

from collections.abc import Sequence

from rich.console import Console

from weft.base.tables import new_table, print_table, print_title
from weft.base.units import format_seconds, format_size
from weft.iterations.comparison import Variant
from weft.iterations.iteration import Iteration
from weft.runs.tables import print_disturbances
from weft.training.build import Summary
from weft.training.variants import NOT_NCCL
from weft.training.workload import DETAILS


def print_iteration(its: Iteration, summary: Summary | None, on: Console) -> None:
    """Print an iteration's time, its parts and what bounds it."""
    if summary:
        on.print(summary.layout, soft_wrap=True)
    ended = "failed after " if its.failed else ""
    print_title(f"Iteration on {its.fabric}: {ended}{format_seconds(its.time_s)}", on)
    if summary and not its.failed:
        on.print(_rates(its, summary), soft_wrap=True)
    table = new_table(["part", "mean of ranks", "share", "most of a rank"], left=["part"])
    for one in its.parts:
        share = f"{one.mean_s / its.time_s:.1%}"
        table.add_row(one.name, format_seconds(one.mean_s), share, format_seconds(one.most_s))
    print_table(table, on)
    if its.links:
        _print_links(its, on)
    print_disturbances(its.faults, its.traffic, on)
    on.print(_sentence(its), soft_wrap=True)
    if its.conditions.multicast:
        on.print(NOT_NCCL, soft_wrap=True)


def _print_links(its: Iteration, on: Console) -> None:
    table = new_table(
        ["links", "carried", "mean use", "busiest", "limit exposed", "carrying"], left=["links"]
    )
    for one in its.links:
        table.add_row(
            one.name,
            format_size(round(one.bytes)),
            f"{one.utilisation:.1%}",
            f"{one.busiest_utilisation:.1%}" if one.busiest else "",
            *(format_seconds(one.exposed_s), format_seconds(one.carried_s)),
        )
    print_table(table, on)


def _rates(its: Iteration, summary: Summary) -> str:
    tokens = summary.tokens / its.time_s / its.ranks
    return (
        f"{summary.tflops(its.time_s):.0f} TFLOP/s a GPU, {summary.mfu(its.time_s):.1%} of the peak"
        f" (MFU); {tokens:,.0f} tokens/s a GPU; {summary.memory.total / 1e9:.0f} of"
        f" {summary.memory_available / 1e9:.0f} GB of memory"
    )


def _sentence(its: Iteration) -> str:
    hidden = sum(its.communicated_s.values()) - sum(
        one.mean_s for one in its.parts if one.name.startswith("exposed")
    )
    text = f"Most time: {its.bound}. {_limit(its)}Computation hides"
    text += f" {format_seconds(max(hidden, 0.0))} of communication. {its.calls:,} collectives,"
    text += f" {its.executed:,} of them executed"
    sent = f"{its.messages:,} messages, {DETAILS[its.conditions.detail]}"
    if its.packets:
        sent += f", as {its.packets.packets:,} packets"
    return f"{text}; {sent}; {its.cpu_s:.1f} s of CPU."


def _limit(its: Iteration) -> str:
    """Return what limits most of the exposed communication."""
    limit = its.limiting_links
    if limit is None:
        return ""
    share = limit.exposed_s / sum(one.exposed_s for one in its.links)
    carrying = limit.carried_s / limit.exposed_s
    return (
        f"{limit.name} links limit {share:.0%} of exposed communication, and carry bytes for"
        f" {carrying:.0%} of that time. "
    )


def print_comparison(variants: Sequence[Variant], on: Console) -> None:
    """Print a row for each variant: its time, and how many times as fast it is as the first."""
    table = new_table(
        ["collectives by", "iteration", "times as fast", "computation", "exposed", "waiting"],
        left=["collectives by"],
    )
    notes = []
    for one in variants:
        if one.problem:
            notes.append(f"{one.name}: {one.problem}")
        its = one.iteration
        if its is None:
            continue
        factor = one.times_as_fast_as(variants[0])
        table.add_row(
            one.name,
            its.outcome.kind if its.failed else format_seconds(its.time_s),
            f"{factor:.3f}" if factor else "",
            *(format_seconds(_sum(its, part)) for part in ("computation", "exposed", "waiting")),
        )
    print_table(table, on)
    if any(one.iteration and one.iteration.conditions.multicast for one in variants):
        on.print(NOT_NCCL, soft_wrap=True)
    for note in notes:
        on.print(note, soft_wrap=True)


def _sum(its: Iteration, part: str) -> float:
    return sum(one.mean_s for one in its.parts if one.name.startswith(part))
