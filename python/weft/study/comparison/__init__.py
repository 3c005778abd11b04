# SPDX-License-Identifier: LGPL-2.1-only
"""Comparison of runs with and without offload, and the resulting gains.

Users: api, campaign, cli, report, study, study/bench.
"""
