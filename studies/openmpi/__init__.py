# SPDX-License-Identifier: LGPL-2.1-only
"""Whether weft's collectives on hosts send the messages that Open MPI's send.

weft's selection `openmpi-4.1` says what it takes them to be, by itself and with a file of Open
MPI's own rules (`rules.conf`); Open MPI's component `monitoring` counts (`monitoring.c`).
`make conformance-openmpi` runs both and writes docs/openmpi-messages.csv and
docs/openmpi-rules-messages.csv.
"""
