# SPDX-License-Identifier: LGPL-2.1-only
"""Two runs, with offload and without, and what offloading gained.

Users: api, campaign, cli, report, study, study/bench.
"""
