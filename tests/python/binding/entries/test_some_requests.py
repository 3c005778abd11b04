# SPDX-License-Identifier: LGPL-2.1-only
"""MPI_Testany and the like return each active request of any kind once, and no other."""

import pytest

from tests.support.simulated import Run


@pytest.mark.parametrize("way", ["testany", "testsome", "waitany", "waitsome"])
@pytest.mark.parametrize("fallback", ["openmpi-5.0", "smpi:ompi"])
@pytest.mark.parametrize("offload", ["stream", "off"])
def test_each_request_is_found_once(run: Run, offload: str, fallback: str, way: str) -> None:
    """SMPI skips requests without an activity, and returns persistent requests not yet started."""
    options = ("--offload", offload, "--fallback", fallback)
    lines = run("some_requests.c", way, ranks=2, options=options).lines
    assert lines == ["rank 0 has ended", "rank 1 has ended"]
