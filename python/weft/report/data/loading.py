# SPDX-License-Identifier: LGPL-2.1-only
"""Loads the data of a report from the index of a campaign's store."""

from weft.campaign import gains, table
from weft.campaign.campaign import Prepared
from weft.campaign.file import runs
from weft.campaign.file.columns import COLLECTIVE_COLUMNS, collective_name
from weft.campaign.store import index
from weft.report.data.commands import command
from weft.report.data.study import Study, study
from weft.runs.launch import fallback_of


def of(prepared: Prepared) -> Study:
    """Read a campaign's results from its store's index."""
    keys = list(runs.columns(prepared.runs))
    found = index.read(prepared.store)
    calls = table.collectives(prepared, found=found, best=True)
    names = {collective_name(name, keys): name for name in COLLECTIVE_COLUMNS}
    return study(
        prepared.campaign,
        table.frame(prepared, missing=True, found=found, best=True),
        calls.select(list(names)).rename(names).unique(maintain_order=True),
        {run.digest: command(prepared.campaign, run.point, run.request) for run in prepared.runs},
        keys,
        prepared.found.impossible,
        _library(prepared),
        gains.of(prepared, found),
    )


def _library(prepared: Prepared) -> str:
    """Return the fallback of the hosts without offload; empty if runs differ in it."""
    names = {fallback_of(run.request) for run in prepared.runs if not run.best}
    return names.pop() if len(names) == 1 else ""
