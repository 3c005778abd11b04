# SPDX-License-Identifier: LGPL-2.1-only
"""Whether weft's collectives on hosts send the messages that Open MPI's send.

Open MPI runs each call of a grid on this machine, with all its ranks, and counts the messages from
each rank to each other (`messages.c`); weft's selection `openmpi-4.1` says what it takes them to
be. `make conformance-openmpi` runs both and writes docs/openmpi-*messages.csv.
"""
