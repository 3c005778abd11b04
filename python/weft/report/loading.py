# SPDX-License-Identifier: LGPL-2.1-only
"""What the index of a campaign's store has for a report."""

from weft.campaign import index, runs, table
from weft.campaign.campaign import Prepared
from weft.campaign.columns import COLLECTIVE_COLUMNS, collective_name
from weft.report.commands import command
from weft.report.study import Study, study


def of(prepared: Prepared) -> Study:
    """Read a campaign's results, from its store's index."""
    keys = list(runs.columns(prepared.runs))
    found = index.read(prepared.store)
    calls = table.collectives(prepared, found=found)
    names = {collective_name(name, keys): name for name in COLLECTIVE_COLUMNS}
    return study(
        prepared.campaign,
        table.frame(prepared, missing=True, found=found),
        calls.select(list(names)).rename(names).unique(maintain_order=True),
        {run.digest: command(prepared.campaign, run.point, run.request) for run in prepared.runs},
        keys,
        prepared.found.impossible,
    )
