# SPDX-License-Identifier: LGPL-2.1-only
"""Outputs of micro-benchmarks (OSU, IMB, nccl-tests, perftests), measured calls, gains' intervals.

Users: api, calibrate, campaign, cli, fabric, report, runs, study.
"""
