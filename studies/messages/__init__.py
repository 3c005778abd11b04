# SPDX-License-Identifier: LGPL-2.1-only
"""Comparison of the messages of weft's host collectives with the messages of an MPI library.

The library runs each call of a grid on this machine, with all its ranks, and counts the messages
between each pair of ranks (`messages.c`); a selection of weft predicts them. `studies/openmpi` and
`studies/mpich` define the libraries.
"""
