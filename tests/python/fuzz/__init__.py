# SPDX-License-Identifier: LGPL-2.1-only
"""Fuzzer for every file and option that weft reads: `make fuzz`, and a sample in the tests.

Inputs are mutations of valid inputs, and the same seed produces the same inputs. An input must be
accepted, or refused with one error message. Every other behaviour is a finding: another exception,
a crash, a hang, excessive memory, an error with Python internals, terminal control sequences in the
output, or leftover files.
"""
