# SPDX-License-Identifier: LGPL-2.1-only
"""Content-addressed store of results, and its index.

Users: campaign, campaign/cluster, campaign/execution, cli, report.
"""
