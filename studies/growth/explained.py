# SPDX-License-Identifier: LGPL-2.1-only
"""Why some things grow faster than linearly, by profiles: beside the exponents on the page.

Shares are of `perf record`'s samples of the simulator's process, start and end included.
"""

from collections.abc import Mapping

_GROUPS = (
    "Each rank's communicator has a table of its own of all members, 12 bytes each (SMPI's"
    " `Group`), which makes 12 P² bytes"
)
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
    ("hosts", "Bcast, multicast", "cpu_s"): (
        f"{_BARRIER}. SimGrid's solver has 14 % of the samples at 2,048 hosts; nothing else stands"
        " out."
    ),
    ("ranks", "Comm_dup", "memory_mib"): f"{_GROUPS}: 192 MiB of the 204 of these four copies.",
    ("ranks", "Comm_dup", "cpu_s"): (
        f"{_GROUPS} to write, and to compare: each rank finds the communicator's number by its"
        " members (`agreed_id`, `Group::actor`, `Comm::size` and others, 20 % at 2,048 ranks)."
    ),
    ("ranks", "Comm_split", "cpu_s"): (
        f"{_GROUPS} for each part of P members: 21 % at 2,048 ranks are in `PMPI_Group_incl`, and"
        " 11 % in SimGrid's solver, for the Allgather of colours."
    ),
    ("ranks", "Comm_split", "memory_mib"): f"{_GROUPS} for each part of P members.",
}
