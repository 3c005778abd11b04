# SPDX-License-Identifier: LGPL-2.1-only
"""`weft bench` with the commands of its own; those of OSU's benchmarks it makes itself."""

from weft.cli import bench_collectives, bench_like
from weft.cli.bench import bench

__all__ = ["bench", "bench_collectives", "bench_like"]
