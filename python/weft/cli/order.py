# SPDX-License-Identifier: LGPL-2.1-only
"""Order of options in help and documentation: required options first, then groups by subject.

An option has the same group and position in every command, regardless of the order of decorators.
Options of a single command form a separate group.
"""

from collections.abc import Iterator, Mapping, Sequence

import click

from weft.runs.options import COLLECTIVES, FABRIC, RANKS, SHORTCUTS, SIMULATION, run_options

REQUIRED = "Required"
OWN = "Options"
OUTPUT = "Output"
_HELP = "Help"


def _of_runs(group: str) -> list[str]:
    return [one.option.flag for one in run_options() if one.option.group == group]


GROUPS: Mapping[str, Sequence[str]] = {
    FABRIC: (
        *_of_runs(FABRIC),
        "--budget",
        "--check-flows",
        "--tolerance",
        *(one.flag for one in SHORTCUTS),
    ),
    RANKS: (*_of_runs(RANKS)[:1], "--nodes", *_of_runs(RANKS)[1:], "--jobs", "--alone"),
    COLLECTIVES: (*_of_runs(COLLECTIVES), "--compare", "--no-best", "--no-intervals"),
    "Measurement": (
        *("--sizes", "--type", "--op", "--iterations", "--warm-up", "--window"),
        "--back-to-back",
        *("--percentiles", "--modes", "--unchecked", "--format", "--full"),
    ),
    "Training": (
        *("--with", "--replicate", "--gpu", "--ignore-memory"),
        *("--allgather-size", "--process-groups", "--logical-dimensions"),
        *("--slowdown", "--noise", "--noise-seed", "--execute-all", "--detail"),
    ),
    SIMULATION: _of_runs(SIMULATION),
}
_WITH_OUTPUT = ("-o", "--json", "--csv", "--trace", "--record", "--plot")
_LAST = ("--force", "--quiet")
_EITHER = ("--fabric", "--platform")
"""Alternative options: commands with both options require one of them."""
_UNLESS = ("-n", "--jobs")
"""Commands with both options require the first, unless the second is given."""


def sections(
    params: Sequence[click.Parameter], writes: Sequence[type]
) -> Iterator[tuple[str, list[click.Option]]]:
    """Yield headings with their options; `writes` lists the parameter types for outputs."""
    options = [one for one in params if isinstance(one, click.Option) and not one.hidden]
    found: dict[str, list[click.Option]] = {}
    for option in sorted(options, key=_place):
        found.setdefault(_group(option, options, tuple(writes)), []).append(option)
    for heading in (REQUIRED, OWN, *GROUPS, OUTPUT, _HELP):
        if heading in found:
            yield heading, found[heading]


def ordered(params: Sequence[click.Parameter], writes: Sequence[type]) -> list[click.Parameter]:
    """Return a command's parameters with its options ordered by group."""
    shown = [option for _, some in sections(params, writes) for option in some]
    return [*shown, *(one for one in params if one not in shown)]


def _group(option: click.Option, options: Sequence[click.Option], writes: tuple[type, ...]) -> str:
    name = _name(option)
    names = {_name(one) for one in options}
    is_either = name in _EITHER and {*_EITHER} <= names
    if option.required or is_either or (name == _UNLESS[0] and {*_UNLESS} <= names):
        return REQUIRED
    if name == "--help":
        return _HELP
    if isinstance(option.type, writes) or name in _LAST:
        return OUTPUT
    return next((group for group, names in GROUPS.items() if name in names), OWN)


def _place(option: click.Option) -> int:
    """Return an option's position in its group; ungrouped options keep their order."""
    known = [*(name for names in GROUPS.values() for name in names), "", *_WITH_OUTPUT, *_LAST]
    name = _name(option)
    return known.index(name if name in known else "")


def _name(option: click.Option) -> str:
    return max(option.opts, key=len)
