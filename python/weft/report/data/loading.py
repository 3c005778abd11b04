# SPDX-License-Identifier: LGPL-2.1-only
"""Loads the data of a report from the index of a campaign's store."""

from dataclasses import replace

from weft.campaign import gains, table
from weft.campaign.campaign import Prepared
from weft.campaign.file import runs
from weft.campaign.file.columns import COLLECTIVE_COLUMNS, collective_name
from weft.campaign.own_job import own_results
from weft.campaign.store import index
from weft.campaign.store.index import Index
from weft.report.data.commands import command
from weft.report.data.iterations import MOST_PICTURES, Iterations, parts_of
from weft.report.data.study import Study, study
from weft.runs.launch import fallback_of


def of(prepared: Prepared) -> Study:
    """Read a campaign's results from its store's index."""
    keys = list(runs.columns(prepared.runs))
    found = index.read(prepared.store)
    certainty_of = gains.of(prepared, found)
    found = replace(found, rows=own_results(found.rows))
    calls = table.collectives(prepared, found=found, best=True)
    names = {collective_name(name, keys): name for name in COLLECTIVE_COLUMNS}
    return study(
        prepared.campaign,
        table.frame(prepared, missing=True, found=found, best=True, whole=True),
        calls.select(list(names)).rename(names).unique(maintain_order=True),
        {run.digest: command(prepared.campaign, run.point, run.request) for run in prepared.runs},
        keys,
        prepared.found.impossible,
        _library(prepared),
        certainty_of,
        _iterations(prepared, found),
        table.jobs(prepared, found=found),
    )


def _iterations(prepared: Prepared, found: Index) -> Iterations:
    """Read the time uses of all iterations, and the timelines of the first ones."""
    trained = [run for run in prepared.runs if run.iteration is not None]
    if not trained:
        return Iterations()
    done = set(found.rows.filter(found.rows["state"] == "done")["run"])
    shown = dict.fromkeys(run.digest for run in trained if run.digest in done)
    records = {
        digest: part.record
        for digest in list(shown)[:MOST_PICTURES]
        if (part := prepared.store.read(digest).iteration)
    }
    models: dict[str, str] = {}
    for run in trained:
        name = str(run.point["program"])
        record = records.get(run.digest)
        models[name] = models.get(name) or (
            record.training.model if record and record.training else ""
        )
    return Iterations(
        parts_of(
            row
            for row in table.parts(prepared, found=found).iter_rows(named=True)
            if not row["job"]
        ),
        {digest: one.uses for digest, one in records.items() if one and one.uses},
        {name: model or name for name, model in models.items()},
    )


def _library(prepared: Prepared) -> str:
    """Return the hosts' fallback without offload; empty if it differs between runs."""
    names = {fallback_of(run.request) for run in prepared.runs if not run.best}
    return names.pop() if len(names) == 1 else ""
