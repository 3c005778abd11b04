# SPDX-License-Identifier: LGPL-2.1-only
"""Campaign files: axes, ranges, programs, and the resulting runs.

Users: api, campaign, campaign/cluster, campaign/execution, cli, report, schemas.
"""
