# SPDX-License-Identifier: LGPL-2.1-only
"""Store of results, by all that decides them, and its index.

Users: campaign, campaign/cluster, campaign/execution, cli, report.
"""
