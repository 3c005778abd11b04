# SPDX-License-Identifier: LGPL-2.1-only
"""Messages that are never sent or never received: the run names their ranks."""

import re

from tests.support.simulated import Run

WEFT = ("--messages", "weft")
WAIT = re.compile(r"Rank (\d+) has waited since ([\d.e-]+) s for ([^.]+)\.")


def test_a_deadlock_names_who_waits_for_which_message(run: Run) -> None:
    result = run("stuck.c", "deadlock", on="hdr100-8", options=WEFT, status=1)
    (said,) = result.messages
    waits = {int(rank): what for rank, _, what in WAIT.findall(said)}
    assert waits == {
        0: "a message from rank 1 with tag 7 on MPI_COMM_WORLD",
        1: "a message from any rank with any tag on communicator 1 (of 2 ranks)",
        2: "rank 3 to receive 1048576 bytes from rank 2 with tag 5 on MPI_COMM_WORLD",
        3: "a message to probe, from rank 0 with tag 1 on MPI_COMM_WORLD",
    }
    since = [float(time) for _, time, _ in WAIT.findall(said)]
    assert since == sorted(since)
    assert since[0] > 100e-6
    assert (
        "Unexpected messages: rank 0 has not received 4 bytes from rank 2 with tag 9 on"
        " communicator 0 (of 2 ranks), sent at 0.00012"
    ) in said


def test_a_deadlock_names_all_messages_of_a_list(run: Run) -> None:
    (said,) = run("stuck.c", "list", on="hdr100-8", options=WEFT, status=1).messages
    waits = [what for rank, _, what in WAIT.findall(said) if rank == "0"]
    assert sorted(waits) == [
        f"a message from rank {rank} with tag {rank + 2} on MPI_COMM_WORLD" for rank in (1, 2)
    ]


def test_many_unexpected_messages_are_found_by_the_memory_limit(run: Run) -> None:
    options = (*WEFT, "--memory", "100MiB")
    result = run(
        "stuck.c", "flood", "1000000", "8", ranks=2, options=options, on="hdr100-8", status=137
    )
    outcome = result.record["outcome"]
    assert outcome["kind"] == "memory-limit"
    assert re.search(
        r"; rank 1 had not received \d{5,6} messages, the first of 8 bytes from rank 0 with tag 5"
        r" on MPI_COMM_WORLD, sent at ",
        outcome["message"],
    )
