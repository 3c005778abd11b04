# SPDX-License-Identifier: LGPL-2.1-only
"""Benchmark names as in OSU without `osu_`, derived from the titles that OSU and IMB print."""

import re

IMB_NAMES = {"pingpong": "latency"}
"""IMB benchmarks, in lower case, that are equivalent to an OSU benchmark of another name."""
# Titles of OSU 4.2 to 7.5 that differ from the benchmark's name (without `Latency Test`).
_OSU_TITLES = {
    "": "latency",
    "bandwidth": "bw",
    "bi-directional bandwidth": "bibw",
    "multiple bandwidth / message rate": "mbw_mr",
    "multi": "multi_lat",
    "multi latency": "multi_lat",
    "multi-threaded": "latency_mt",
    "multi-process": "latency_mp",
    "broadcast": "bcast",
    "all-to-all personalized exchange": "alltoall",
    "all-to-allv personalized exchange": "alltoallv",
    "all-to-allw personalized exchange": "alltoallw",
    "all-to-all": "alltoall",
    "_put": "put_latency",
    "_put bandwidth": "put_bw",
    "_put bi-directional bandwidth": "put_bibw",
    "_get": "get_latency",
    "_get bandwidth": "get_bw",
    "_accumulate": "acc_latency",
    "_get_accumulate": "get_acc_latency",
    "_compare_and_swap": "cas_latency",
    "_fetch_and_op": "fop_latency",
}


def osu_name(title: str) -> str:
    """Return the benchmark of a title: iallreduce for `Non-blocking Allreduce Latency Test`."""
    text = re.sub(r"\s*\bTest$", "", title.strip()).lower()
    text = re.sub(r"\s*\blatency$", "", text).strip()
    nonblocking = text.startswith("non-blocking ")
    text = text.removeprefix("non-blocking ")
    persistent = text.endswith(" persistent")
    text = text.removesuffix(" persistent")
    name = _OSU_TITLES.get(text, re.sub(r"\W+", "_", text).strip("_"))
    return f"{'i' * nonblocking}{name}{'_persistent' * persistent}"
