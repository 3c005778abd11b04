# SPDX-License-Identifier: LGPL-2.1-only
"""Stores with fabricated results, for tests that process thousands of them.

One run of the campaign is simulated; all other runs get a copy of its record with a different time.

python benchmarks/fabricated.py CAMPAIGN.toml
"""

import sys
from pathlib import Path

from weft.campaign import campaign as api
from weft.campaign.execution.work import carry_out
from weft.campaign.store.store import Result


def fill(file: Path, store: Path | None = None) -> api.Prepared:
    """Create a result for each run of a campaign; keep existing results."""
    prepared = api.prepare(file, store)
    missing = prepared.missing()
    if not missing:
        return prepared
    first = missing.pop(0)
    carry_out(api._task(prepared, first))
    made = prepared.store.read(first.digest)
    assert made.record
    time_s = made.record.simulated_time_s
    for k, run in enumerate(missing):
        made.record.simulated_time_s = time_s * (1 + k / len(missing))
        made.record.ranks = run.request.placement.ranks
        made.record.offload = run.request.collectives.offload
        prepared.store.write(run.digest, Result(point=dict(run.point), record=made.record))
    return prepared


if __name__ == "__main__":
    fill(Path(sys.argv[1]))
