# SPDX-License-Identifier: LGPL-2.1-only
"""Outputs of OSU's and Intel's micro-benchmarks: rows, message sizes, ranks and ranks per host.

Users: calibrate, cli, study.
"""
