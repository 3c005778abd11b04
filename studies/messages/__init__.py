# SPDX-License-Identifier: LGPL-2.1-only
"""Whether weft's collectives on hosts send the messages that an MPI library's send.

The library runs each call of a grid on this machine, with all its ranks, and counts the messages
from each rank to each other (`messages.c`); a selection of weft's says what they should be.
`studies/openmpi` and `studies/mpich` are the libraries.
"""
