# SPDX-License-Identifier: LGPL-2.1-only
"""Comparison of the messages of weft's host collectives with Open MPI's.

weft's selection `openmpi-4.1` predicts them, by itself and with a file of Open MPI's own rules
(`rules.conf`), and `openmpi-5.0` for ranks that share hosts, which `host.sh` emulates on this
machine: HAN, which 4.1 has but does not select by default. Open MPI's component `monitoring` counts
(`monitoring.c`). `make conformance-openmpi` runs both and writes docs/openmpi-messages.csv.gz,
docs/openmpi-rules-messages.csv.gz and docs/openmpi-han-messages.csv.gz.
"""
