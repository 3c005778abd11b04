# SPDX-License-Identifier: LGPL-2.1-only
"""Comparison of the messages of weft's host collectives with Open MPI's.

weft's selection `openmpi-4.1` predicts the messages, both without and with a rules file of Open MPI
(`rules.conf`). `openmpi-5.0` predicts them for ranks that share hosts, which `host.sh` emulates on
this machine: there, 5.0 selects HAN, which 4.1 contains but does not select by default. Open MPI's
component `monitoring` counts the messages (`monitoring.c`). `make conformance-openmpi` runs both
and writes docs/openmpi-messages.csv.gz, docs/openmpi-rules-messages.csv.gz and
docs/openmpi-han-messages.csv.gz.
"""
