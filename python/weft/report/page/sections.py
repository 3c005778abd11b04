# SPDX-License-Identifier: LGPL-2.1-only
"""Sections of text and tables, readable without scripts."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

from weft.base.units import ended, format_ratio, natural_order, plural
from weft.benchmarks.certainty import CALIBRATION, CANNOT_TELL, LEVEL, MEASUREMENTS, shown
from weft.report.data.study import ComparedRuns, Study
from weft.report.page import provenance
from weft.report.page.ranking import ranked
from weft.report.page.runtime import vega_versions
from weft.report.page.sentences import DECIDED, Verdict, group_keys, headline, verdicts
from weft.report.page.verdict import basis as rule
from weft.report.page.verdict import verdict

_TIMES = "\N{MULTIPLICATION SIGN}"
_MOST_GROUPS, _MOST_EXAMPLES, _MOST_VERDICTS = 30, 20, 60
_MOST_ALIKE = 2
"""Number of comparisons up to which the first screen contains a sentence for each comparison."""
_MOST_OPEN = 6
"""Number of rows up to which a table is initially expanded."""


def about(study: Study) -> str:
    """Return the text below the title."""
    states = Counter(study.rows["state"])
    parts = [f"{states[state]:,} {said}" for state, said in _STATES.items() if states[state]]
    combined = f"{plural(len(study.points), 'combination')}: {', '.join(parts)}"
    if study.impossible:
        combined += f"; {len(study.impossible):,} cannot be run"
    return f"{ended(study.description)} {ended(combined)}".strip()


_STATES = {
    "done": "done",
    "failed": "failed in the simulation",
    "refused": "refused by weft",
    "missing": "not run yet",
}


def number_of_rows(study: Study) -> str:
    """Return the number of combinations in words."""
    return plural(len(study.points), "combination")


def footer() -> str:
    """Return the line that names the software behind the page."""
    made = ", ".join(f"{name} {version}" for name, version in provenance.versions())
    return f"Created by {made}; charts by {vega_versions()}. This file is self-contained."


# ---- The answer ----------------------------------------------------------------------------------


def by_baseline(study: Study, part: Callable[[Study], str]) -> str:
    """Return a part of the page for each baseline; initially, only the default is visible."""
    return "\n".join(
        f'<div data-baseline="{number}"{" hidden" if number else ""}>\n{part(one)}\n</div>'
        for number, one in enumerate(study.by_baseline)
    )


def answer(study: Study) -> str:
    """Return the sentences of the first screen: the verdict, with its counts on demand."""
    lead, order, counts = verdict(study), ranked(study), headline(study)
    if study.only_trains:
        lead, order, counts = counts[:1], [*counts[1:], *order], []
    if not lead:
        alike = order if len(verdicts(study)) > _MOST_ALIKE and order else counts
        lead = alike[:1]
        order, counts = ([one for one in some if one not in lead] for some in (order, counts))
    parts = [f'<p class="answer">{escape(one)}</p>' for one in lead]
    parts += [f"<p>{escape(one)}</p>" for one in order]
    if counts:
        said = "".join(f"<p>{escape(one)}</p>" for one in counts)
        parts.append(f"<details><summary>Counts of the comparison</summary>{said}</details>")
    return "\n".join(parts)


def basis(study: Study) -> str:
    """Return the text below the picture: the runs compared, and their baseline."""
    return f'<p class="quiet">{escape(" ".join(_basis(study)))}</p>'


def _basis(study: Study) -> Iterable[str]:
    against = study.reference
    what = "an iteration" if study.only_trains else "the whole program"
    if study.compared and against:
        yield (
            f"The baseline is {against.name}{_why(study)}. The comparison uses the simulated time"
            f" of {what} in two runs that differ only in {against.axis}: the baseline's"
            " time divided by that of the other run."
        )
    if verdict(study):
        yield rule()
    if study.over_best and study.over_best.compared:
        yield (
            "Best of all algorithms: for each call, the hosts use the algorithm of any library"
            " with the lowest predicted time (fallback = best)."
        )
    yield from _intervals(study)
    if study.pairs.relaxed and against:
        keys = ", ".join(study.pairs.relaxed)
        hosts = ", which does not affect hosts," if against.hosts else ""
        yield (
            f"Where {study.source.has} no run of {'the hosts' if against.hosts else against.name}"
            f" with the same {keys}{hosts or ','} the run with another value is used."
        )
    if study.picked and study.picked not in study.references:
        yield f"No combination of {study.picked.name}, the file's baseline, can be run."
    if study.compared and against and study.uncompared:
        yield (
            f"{plural(study.uncompared, 'combination')} had no run of {against.name} for"
            " comparison."
        )
    yield provenance.computation(study)


_COVERED = (
    "It covers the costs of collectives, which differ between the runs, but not messages between"
    " ranks, copies within hosts or computation, which both runs share."
)


def _intervals(study: Study) -> Iterable[str]:
    """Return a phrase for the source of gain intervals."""
    bases = Counter(one.certainty.basis for one in study.compared if one.certainty)
    total = f"{len(study.compared):,}"
    if known := bases[MEASUREMENTS]:
        yield (
            f"Gains with an interval ({known:,} of {total}): it holds {LEVEL:.0%} of the measured"
            " gains of calls like these, by size, ranks per host and number of switches; if it"
            f" contains 1, the simulation {CANNOT_TELL} which is faster. {_COVERED}"
        ).replace("%", " %")
    if known := bases[CALIBRATION]:
        yield (
            f"Gains with a calibrated interval ({known:,} of {total}): both runs were repeated at"
            " the ends of each calibrated value's interval, and the changes of the gain were"
            " combined in quadrature."
        )


def _why(study: Study) -> str:
    """Return the reason for the choice of baseline, or an empty text."""
    against = study.reference
    if against == study.picked:
        return ", as the campaign's file says"
    if study.against or (against and against.hosts):
        return ""
    return ", the first of its values"


def verdict_table(study: Study) -> str:
    """Return the verdicts by program, fabric and offload mode as a table."""
    found = sorted(verdicts(study), key=lambda one: natural_order(" ".join(one.values.values())))
    if not found:
        return ""
    keys = group_keys(study)
    best = study.over_best
    also = best is not None and bool(best.compared)
    named = ("against",) if also else ()
    heads = (
        *(*keys, *named, "compared", "faster", "same", "slower", CANNOT_TELL),
        *("fell back", "failed", "not run", "largest gain", "largest loss"),
    )
    groups = [(study, found), *([(best, verdicts(best))] if best and also else [])]
    rows = [
        _verdict_row(one, keys, (_against(side),) if also else ())
        for side, some in groups
        for one in some[:_MOST_VERDICTS]
    ]
    more = len(found) - _MOST_VERDICTS
    note = f"<p>{more:,} more are not listed.</p>" if more > 0 else ""
    shown = table(*_telling(heads, rows, len(keys) + also)) + note
    title = f"By {escape(', '.join(keys))}"
    if len(rows) <= _MOST_OPEN:
        return f"<h3>{title}</h3>{shown}"
    return f"<details><summary>{title}: {len(rows):,} rows</summary>{shown}</details>"


def _telling(
    heads: Sequence[str], rows: Sequence[Sequence[str]], left: int
) -> tuple[Sequence[str], Sequence[Sequence[str]], int]:
    """Return a table without the columns that are empty or 0 in all rows."""
    kept = [k for k in range(len(heads)) if any(row[k] not in ("", "0") for row in rows)]
    shown = [[row[k] for k in kept] for row in rows]
    return [heads[k] for k in kept], shown, sum(k < left for k in kept)


def _against(study: Study) -> str:
    """Return the baseline's name in rows of the table."""
    against = study.reference
    if against is None:
        return ""
    if against.hosts:
        return against.said or "the hosts"
    return f"{against.value}, {against.said}" if against.best else against.value


def _verdict_row(one: Verdict, keys: Sequence[str], against: Sequence[str]) -> list[str]:
    values = one.values
    return [
        *(*(values[key] for key in keys), *against),
        f"{len(one.found):,}",
        *(f"{one.number(name):,}" for name in (*DECIDED, "fell back", "failed")),
        f"{one.number('missing'):,}",
        _times(one.best),
        _times(one.worst),
    ]


def _times(one: ComparedRuns | None) -> str:
    if one is None:
        return ""
    times = f"{format_ratio(one.speed_up)}{_TIMES}"
    if one.certainty is None:
        return times
    return f"{times} ({shown(one.certainty.low, one.certainty.high)})"


# ---- Failures ------------------------------------------------------------------------------------


def failures(study: Study) -> str:
    """Return the failures, grouped by message."""
    bad = [
        (row["state"], row["message"] or "no message", point)
        for row, point in zip(study.records, study.points, strict=True)
        if row["state"] in ("failed", "refused")
    ]
    bad += [("cannot be run", message, _texts(point)) for point, message in study.impossible]
    if not bad:
        return "<p>Nothing failed.</p>"
    groups: dict[tuple[str, str], list[tuple[str, Mapping[str, str]]]] = {}
    for state, message, point in bad:
        groups.setdefault((state, _alike(message)), []).append((message, point))
    largest = sorted(groups.items(), key=lambda item: -len(item[1]))
    parts = [_group(state, members) for (state, _), members in largest[:_MOST_GROUPS]]
    if len(largest) > _MOST_GROUPS:
        parts.append(
            f"<p>{len(largest) - _MOST_GROUPS:,} other messages are in the table of runs.</p>"
        )
    return "\n".join(parts)


def _texts(point: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value) for key, value in point.items()}


def _alike(message: str) -> str:
    """Return an error message with its numbers masked, as a key that groups similar messages."""
    return re.sub(r"\d+(\.\d+)?", "#", message)


def _group(state: str, members: Sequence[tuple[str, Mapping[str, str]]]) -> str:
    message = members[0][0]
    shared = {
        key: value
        for key, value in members[0][1].items()
        if value and len({point.get(key) for _, point in members}) == 1
    }
    same = len({one for one, _ in members}) == 1
    note = "" if same else " Others differ in numbers."
    items = "".join(
        f"<li>{escape(_label(point, shared))}</li>" for _, point in members[:_MOST_EXAMPLES]
    )
    if len(members) > _MOST_EXAMPLES:
        items += f"<li>and {len(members) - _MOST_EXAMPLES:,} more</li>"
    common = ended(f"All with {_label(shared)}") if shared and len(members) > 1 else ""
    return (
        f'<div class="failure"><p><strong>{len(members):,} {escape(state)}</strong></p>'
        f"<pre>{escape(message)}</pre><p>{escape(common + note)}</p>"
        f"<details><summary>Which</summary><ul>{items}</ul></details></div>"
    )


def _label(point: Mapping[str, str], but: Mapping[str, str] | None = None) -> str:
    shown = {key: value for key, value in point.items() if value and key not in (but or {})}
    return ", ".join(f"{key} {value}" for key, value in (shown or point).items())


# ---- Provenance of the numbers
# ---------------------------------------------------------------------


def made(study: Study) -> str:
    """Return programs, commands, versions and accuracy."""
    parts = [
        "<h3>Programs</h3>",
        f"<p>{escape(study.source.commands)}</p>",
        *(
            f"<p>{escape(name)}</p><pre>{escape(how or 'made beforehand')}</pre>"
            for name, how in study.programs.items()
        ),
        "<h3>One run</h3>",
        "<p>Each row of the table of runs has its own command. The first is:</p>",
        f"<pre>{escape(str(study.commands[0]))}</pre>" if study.commands else "",
        "<h3>Versions</h3>",
        f"<p>{escape(', '.join(study.source.versions))}. {escape(study.source.known)}</p>",
        "<h3>Computation</h3>",
        f"<p>{escape(provenance.computation(study))}</p>",
        _hosts(study),
        "<h3>Accuracy against measurements</h3>",
        *(_statement(one) for one in provenance.accuracy(study)),
    ]
    return "\n".join(parts)


def _hosts(study: Study) -> str:
    said = provenance.hosts_algorithms(study)
    return f"<h3>Host algorithms</h3><p>{escape(said)}</p>" if said else ""


def _statement(one: provenance.Statement) -> str:
    head = f"<p><strong>{escape(one.fabric)}</strong>: {escape(one.about)}</p>"
    which = "; ".join(one.changes[:_MOST_EXAMPLES])
    if len(one.changes) > _MOST_EXAMPLES:
        which += f"; and {len(one.changes) - _MOST_EXAMPLES:,} more"
    changed = f'<p class="quiet">{escape(which)}</p>'
    if not one.known:
        return (
            f"{head}{changed}<p>weft ships no measurement of these devices: times are predictions"
            " from the values of the fabric file, with unknown accuracy."
            "</p>"
        )
    items = "".join(f"<li>{escape(found)}</li>" for found in one.known)
    return (
        f"{head}{changed}<details><summary>{plural(len(one.known), 'comparison')} with measurements"
        " by <code>weft validate</code>; errors are logarithmic</summary>"
        f"<ul>{items}</ul></details>"
    )


# ---- Tables --------------------------------------------------------------------------------------


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    """Return a table with `left` text columns, followed by number columns."""
    kinds = ("", ' class="number"')
    top = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td data-head="{escape(head)}"{kinds[k >= left]}>{escape(cell)}</td>'
            for k, (head, cell) in enumerate(zip(heads, row, strict=True))
        )
        + "</tr>"
        for row in rows
    )
    return (
        '<div class="scroll stacked" tabindex="0" role="region" aria-label="Table">'
        f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )
