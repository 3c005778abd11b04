# SPDX-License-Identifier: LGPL-2.1-only
"""Why some things grow faster than linearly, by profiles: beside the exponents on the page.

Shares are of `perf record`'s samples of the simulator's process, start and end included.
"""

from collections.abc import Mapping

_BARRIER = (
    "Members meet in a barrier of log2 P rounds of P messages, of which the exponent has 0.15"
)

EXPLAINED: Mapping[tuple[str, str, str], str] = {
    ("ranks", "start and end, program copied", "cpu_s"): (
        "The loader compares each copy of the program with all that it has loaded: 85 % of the"
        " samples at 4,096 ranks are in it (`strcmp`, `_dl_name_match_p`). Programs without global"
        " variables are not copied."
    ),
    ("ranks", "Allreduce, message", "cpu_s"): (
        "Nothing stands out: first comes SimGrid's search through a mailbox (`find_matching_comm`,"
        " 9 % at 4,096 ranks), which gets longer with the ranks that send to one switch."
    ),
    ("ranks", "Bcast, multicast", "cpu_s"): (
        f"{_BARRIER}. Ranks of a host share its cable, and SimGrid solves for all messages on a"
        " cable whenever one begins or ends: 27 % at 2,048 ranks are in `maxmin_solve`."
    ),
    ("ranks", "messages", "cpu_s"): (
        "What ranks touch no longer fits into the caches: who is first to touch one that is to go"
        " on (`SwappedContext::suspend`, `raw_swapcontext`) has 6.1 % of the samples at 4,096"
        " ranks, and 3.1 % at 512; nothing else stands out."
    ),
    ("ranks", "Comm_dup", "cpu_s"): (
        "As with messages, who is first to touch a rank has 4.6 % of the samples at 4,096 ranks,"
        " and 2.2 % at 512; SimGrid's search through a mailbox (`find_matching_comm`) 4.3 % and"
        " 1.4 %: its barrier has log2 P rounds of P messages."
    ),
    ("hosts", "Allreduce, stream", "cpu_s"): (
        "What ranks touch no longer fits into the caches: 4.4 KB of each are 36 MB at 8,192."
        " `Gate::pass`, which fetches it, has 16 % of the samples there, and 1.3 % at 1,024 hosts."
    ),
    ("hosts", "Allreduce, hosts", "cpu_s"): (
        "A call has log2 P rounds, of which the exponent has 0.13. What ranks touch no longer fits"
        " into the caches: `Sleep::wake`, the first to touch a rank that is to go on, has 6.6 % of"
        " the samples at 8,192 hosts, and 0.7 % at 1,024."
    ),
    ("hosts", "Bcast, multicast", "cpu_s"): (
        f"{_BARRIER}. SimGrid's solver has 14 % of the samples at 2,048 hosts; nothing else stands"
        " out."
    ),
    ("ranks", "Comm_split", "memory_mib"): (
        "While ranks tell each other their colours, SMPI's Allgather (`allgather__bruck`) has a"
        " buffer of 16 KiB at each of 2,048 ranks: 32 MiB of the 59. It has none up to 1,024."
    ),
    ("bytes", "Allreduce, stream", "cpu_s"): (
        "A megabyte of each of 64 ranks is more than caches hold: copies (`memmove`) have 22 % of"
        " the samples with 1 MiB, and 4 % with as many bytes in calls of 16 KiB."
    ),
}
