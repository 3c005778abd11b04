# SPDX-License-Identifier: LGPL-2.1-only
"""Outputs of OSU's and Intel's micro-benchmarks, and which measured calls ship with weft.

Users: api, calibrate, campaign, cli, fabric, runs, study.
"""
