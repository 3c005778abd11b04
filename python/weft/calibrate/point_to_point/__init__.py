# SPDX-License-Identifier: LGPL-2.1-only
"""Fits of messages between two hosts: latency, bandwidth and overheads by size.

Users: api, calibrate/cluster, calibrate/host, cli, study.
"""
