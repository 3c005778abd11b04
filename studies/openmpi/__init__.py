# SPDX-License-Identifier: LGPL-2.1-only
"""Whether weft's collectives on hosts send the messages that Open MPI's send.

weft's selection `openmpi-4.1` says what it takes them to be, by itself and with a file of Open
MPI's own rules (`rules.conf`), and `openmpi-5.0` where ranks share hosts, which `host.sh` makes of
this machine: HAN, which 4.1 has too, and does not take by itself. Open MPI's component
`monitoring` counts (`monitoring.c`). `make conformance-openmpi` runs both and writes
docs/openmpi-messages.csv, docs/openmpi-rules-messages.csv and docs/openmpi-han-messages.csv.
"""
