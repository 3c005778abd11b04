# SPDX-License-Identifier: LGPL-2.1-only
"""Execution of runs in processes on this machine: program builds and work distribution.

Users: api, campaign, campaign/cluster, cli.
"""
