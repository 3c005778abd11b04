# SPDX-License-Identifier: LGPL-2.1-only
"""`weft bench`: one command per micro-benchmark, and the group that resolves them.

`osu` generates the commands of OSU's benchmarks from their table; `collectives`, `like` and `nccl`
add their own; `shared` defines their common options.
"""

from weft.cli.bench import collectives, like, nccl
from weft.cli.bench.group import bench

__all__ = ["bench", "collectives", "like", "nccl"]
