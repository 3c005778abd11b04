# SPDX-License-Identifier: LGPL-2.1-only
"""MPI_Testany and its like name each active request once, whatever it stands for, and no other."""

import pytest

from tests.support.simulated import Run


@pytest.mark.parametrize("way", ["testany", "testsome", "waitany", "waitsome"])
@pytest.mark.parametrize("fallback", ["openmpi-5.0", "smpi:ompi"])
@pytest.mark.parametrize("offload", ["stream", "off"])
def test_each_request_is_found_once(run: Run, offload: str, fallback: str, way: str) -> None:
    """SMPI passes over what has no activity, and names persistent requests not yet started."""
    options = ("--offload", offload, "--fallback", fallback)
    lines = run("some_requests.c", way, ranks=2, options=options).lines
    assert lines == ["rank 0 has ended", "rank 1 has ended"]
