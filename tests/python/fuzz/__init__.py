# SPDX-License-Identifier: LGPL-2.1-only
"""A fuzzer for every file and option that weft reads: `make fuzz`, and a share in tests.

Inputs are good ones, mutated; the same seed gives the same. An input may be taken or refused with
one message: anything else is a finding (another exception, a crash, a hang, much memory, a message
in Python's words, output that commands a terminal, files left behind).
"""
