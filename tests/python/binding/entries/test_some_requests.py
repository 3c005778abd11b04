# SPDX-License-Identifier: LGPL-2.1-only
"""MPI_Testany and similar calls return each active request of any kind exactly once, and no other.

weft caches long lists between calls; with `--tunings -waits`, it examines each request in each
call, which must find the same requests at the same times.
"""

import pytest

from tests.support import simulated
from tests.support.simulated import Program, Run


@pytest.mark.parametrize("way", ["testany", "testsome", "waitany", "waitsome"])
@pytest.mark.parametrize("fallback", ["openmpi-5.0", "smpi:ompi"])
@pytest.mark.parametrize("offload", ["stream", "off"])
def test_each_request_is_found_once(run: Run, offload: str, fallback: str, way: str) -> None:
    """SMPI skips requests without an activity, and returns persistent requests before a start."""
    options = ("--offload", offload, "--fallback", fallback)
    lines = run("some_requests.c", way, ranks=2, options=options).lines
    assert lines == ["rank 0 has ended", "rank 1 has ended"]


@pytest.mark.parametrize(
    "options",
    [
        ("--fabric", "star-8"),
        ("--fabric", "hdr100-8", "--set", "mpi.rendezvous=put"),
        ("--fabric", "hdr100-8", "--ppn", "2"),
    ],
)
def test_long_lists_find_what_single_requests_do(
    program: Program, options: tuple[str, ...]
) -> None:
    """The lists contain persistent requests, are shortened, and change between calls."""
    command = [*simulated.WEFT, "run", "-q", "-n", "6", *options]
    work = ["--", str(program("long_lists.c")), "4"]
    found = [
        simulated.run_command([*command, "--tunings", tunings, *work])
        for tunings in ("all", "-waits")
    ]
    assert [(result.status, len(result.lines)) for result in found] == [(0, 6)] * 2
    assert found[0].lines == found[1].lines
    assert len(set(found[0].lines)) == 6


def test_a_deadlock_names_the_messages_of_a_long_list(program: Program) -> None:
    command = [*simulated.WEFT, "run", "-q", "-n", "2", "--fabric", "star-8", "--"]
    result = simulated.run_command([*command, str(program("long_lists.c")), "stuck"])
    assert result.status == 1
    assert "Rank 0 has waited since" in result.messages[0]
    assert "There are 142 more such waits." in result.messages[0]
