# SPDX-License-Identifier: LGPL-2.1-only
"""Explanations of the exponents above 1 on the page, based on profiles.

Percentages are fractions of the `perf record` samples of the simulator process, including start and
end.
"""

from collections.abc import Mapping

_BARRIER = (
    "A barrier of log2 P rounds of P messages precedes the call, which adds 0.15 to the exponent"
)

EXPLAINED: Mapping[tuple[str, str, str], str] = {
    ("ranks", "start and end, program copied", "cpu_s"): (
        "The loader compares each copy of the program with everything loaded before: 85 % of the"
        " samples at 4,096 ranks (`strcmp`, `_dl_name_match_p`). Programs without global variables"
        " are not copied."
    ),
    ("ranks", "Allreduce, message", "cpu_s"): (
        "No single cause. The largest is SimGrid's mailbox search (`find_matching_comm`, 9 % at"
        " 4,096 ranks), which grows with the ranks that send to one switch."
    ),
    ("ranks", "Bcast, multicast", "cpu_s"): (
        f"{_BARRIER}. Ranks of a host share its cable, and SimGrid re-solves all messages on a"
        " cable whenever one begins or ends: `maxmin_solve` has 27 % at 2,048 ranks."
    ),
    ("ranks", "messages", "cpu_s"): (
        "The working set of the ranks exceeds the caches: the first functions to touch a resumed"
        " rank (`SwappedContext::suspend`, `raw_swapcontext`) have 6.1 % of the samples at 4,096"
        " ranks, and 3.1 % at 512. No other cause stands out."
    ),
    ("ranks", "Comm_dup", "cpu_s"): (
        "As with messages, the first functions to touch a rank have 4.6 % of the samples at 4,096"
        " ranks, and 2.2 % at 512. SimGrid's mailbox search (`find_matching_comm`) has 4.3 % and"
        " 1.4 %, since the call's barrier has log2 P rounds of P messages."
    ),
    ("hosts", "Allreduce, stream", "cpu_s"): (
        "The working set of the ranks exceeds the caches: 4.4 KB each, 36 MB at 8,192 ranks."
        " `Gate::pass`, which prefetches it, has 16 % of the samples there, and 1.3 % at 1,024"
        " hosts."
    ),
    ("hosts", "Allreduce, hosts", "cpu_s"): (
        "A call has log2 P rounds, which adds 0.13 to the exponent. The working set of the ranks"
        " exceeds the caches: `Sleep::wake`, the first function to touch a resumed rank, has 6.6 %"
        " of the samples at 8,192 hosts, and 0.7 % at 1,024."
    ),
    ("hosts", "Bcast, multicast", "cpu_s"): (
        f"{_BARRIER}. SimGrid's solver has 14 % of the samples at 2,048 hosts; no other cause"
        " stands out."
    ),
    ("ranks", "Comm_split", "memory_mib"): (
        "While ranks exchange their colours, SMPI's Allgather (`allgather__bruck`) holds a buffer"
        " of 16 KiB at each of 2,048 ranks: 32 MiB of the 59. Up to 1,024 ranks it has none."
    ),
    ("bytes", "Allreduce, stream", "cpu_s"): (
        "1 MiB from each of 64 ranks exceeds the caches: copies (`memmove`) have 22 % of the"
        " samples with 1 MiB, and 4 % with equally many bytes in calls of 16 KiB."
    ),
}
