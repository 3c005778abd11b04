# SPDX-License-Identifier: LGPL-2.1-only
"""Outputs of micro-benchmarks (OSU, IMB, nccl-tests, perftests), and weft's measured calls.

Users: api, calibrate, campaign, cli, fabric, runs, study.
"""
