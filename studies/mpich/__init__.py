# SPDX-License-Identifier: LGPL-2.1-only
"""Whether weft's collectives on hosts send the messages that MPICH's send.

weft's selection `mpich-4` says what it takes them to be; MPICH's messages are counted where it
hands them to UCX (`ucx.c`). `make conformance-mpich` writes docs/mpich-messages.csv.
"""
