# SPDX-License-Identifier: LGPL-2.1-only
"""Options and output shared by the commands of `weft campaign`."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import click

from weft.base.units import plural
from weft.campaign import gains
from weft.campaign.campaign import Prepared
from weft.campaign.file.axes import Point
from weft.campaign.store.index import Index
from weft.cli.common import Command
from weft.cli.files import Input, OutputDirectory

file_argument = click.argument("file", type=Input(), metavar="FILE")


def _store_option(kind: click.Path) -> Callable[[Command], Command]:
    return click.option(
        "--store",
        type=kind,
        metavar="DIRECTORY",
        help="Folder of the results.  [default: the name of FILE, with .runs instead of .toml]",
    )


store_option = _store_option(OutputDirectory())
looked_at_option = _store_option(Input())
"""Store option of commands that only read the store and need no write permission."""
_SHOWN = 5


def label(point: Point) -> str:
    """Return a one-line label of a combination."""
    return ", ".join(f"{key} {value}" for key, value in point.items())


def say_impossible(found: Sequence[tuple[Point, str]], what: str = "cannot be run") -> None:
    """Print the affected combinations, grouped by reason."""
    reasons = Counter(reason for _, reason in found)
    for reason, number in reasons.most_common(_SHOWN):
        first = next(point for point, why in found if why == reason)
        more = "" if number == 1 else f" (and {number - 1:,} more)"
        click.echo(f"weft: {what}: {label(first)}{more}: {reason}", err=True)
    if len(reasons) > _SHOWN:
        more_reasons = len(reasons) - _SHOWN
        click.echo(f"weft: {what}: others, for {plural(more_reasons, 'reason')}", err=True)


def say_damaged(found: Index) -> None:
    """Print the results that are unreadable."""
    for why in list(found.damaged.values())[:_SHOWN]:
        click.echo(f"weft: {why}", err=True)
    if (more := len(found.damaged) - _SHOWN) > 0:
        click.echo(f"weft: {plural(more, 'result')} more cannot be read", err=True)


def exit_status(prepared: Prepared, states: "Counter[str]") -> int:
    """Return 0 if all runs are done, 1 if all have ended but some failed, 3 if some are missing."""
    if states["missing"]:
        return 3
    return int(states["done"] < len(prepared.counted) or bool(prepared.found.impossible))


def summary(prepared: Prepared, states: "Counter[str]") -> str:
    """Return a one-line summary of a campaign."""
    parts = [f"{states['done']:,} done"]
    parts += [f"{states[one]:,} {one}" for one in ("failed", "refused") if states[one]]
    if states["missing"]:
        parts.append(f"{states['missing']:,} to do")
    if prepared.found.impossible:
        parts.append(f"{plural(len(prepared.found.impossible), 'combination')} cannot be run")
    return f"{prepared.campaign.name}: {plural(len(prepared.counted), 'run')}: {', '.join(parts)}"


def say_gains(prepared: Prepared) -> None:
    """Print how many runs gain from offloading, if any were compared with the hosts."""
    if said := gains.summary(gains.rows(prepared, prepared.index())):
        click.echo(f"{prepared.campaign.name}: {said}")


def cost(prepared: Prepared) -> Iterator[str]:
    """Yield the number of extra runs for the certainty of gains, and the key that disables them."""
    if best := sum(run.best for run in prepared.runs):
        yield (
            f"{plural(best, 'run')} with the hosts' fastest algorithms (fallback best), for the"
            " gain over the best algorithm; [campaign] best = false omits them"
        )
    if ends := len(prepared.counted) - len(prepared.runs):
        yield (
            f"{plural(ends, 'run')} at the ends of the fabrics' calibration intervals, for the"
            " interval of each gain; [campaign] intervals = false omits them"
        )
