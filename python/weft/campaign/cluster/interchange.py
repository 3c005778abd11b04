# SPDX-License-Identifier: LGPL-2.1-only
"""Parsl's interchange as a child of the command that sends runs, which it never outlives.

The terminal's Ctrl-C is not for it: jobs are cancelled first, by who has submitted them.
"""

import ctypes
import os
import runpy
import signal

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main() -> None:
    """Become the interchange; its configuration comes by standard input."""
    parent = os.getppid()
    os.setsid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == parent:  # else it has died before
        runpy.run_module(
            "parsl.executors.high_throughput.interchange", run_name="__main__", alter_sys=True
        )


if __name__ == "__main__":
    main()
