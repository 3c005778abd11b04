# SPDX-License-Identifier: LGPL-2.1-only
"""Comparison of the messages of weft's host collectives with MPICH's.

weft's selection `mpich-4` predicts them; MPICH's messages are counted where MPICH passes them to
UCX (`ucx.c`). `make conformance-mpich` writes docs/mpich-messages.csv.gz.
"""
