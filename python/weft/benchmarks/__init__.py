# SPDX-License-Identifier: LGPL-2.1-only
"""Outputs of micro-benchmarks (OSU, IMB, nccl-tests, perftests), and which measured calls ship.

Users: api, calibrate, campaign, cli, fabric, runs, study.
"""
