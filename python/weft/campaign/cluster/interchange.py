# SPDX-License-Identifier: LGPL-2.1-only
"""Entry point of Parsl's interchange, a child process that never outlives the sending command.

The interchange runs in its own session, so that the terminal's Ctrl-C does not reach it before the
submitting command has cancelled the jobs.
"""

import ctypes
import os
import runpy
import signal

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main() -> None:
    """Become the interchange, which reads its configuration from standard input."""
    parent = os.getppid()
    os.setsid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == parent:  # otherwise the parent has already died
        runpy.run_module(
            "parsl.executors.high_throughput.interchange", run_name="__main__", alter_sys=True
        )


if __name__ == "__main__":
    main()
