# SPDX-License-Identifier: LGPL-2.1-only
"""Studies of several runs: benchmarks, comparisons, validation, forwarding caches, demo.

Users: api, campaign, cli, report.
"""
