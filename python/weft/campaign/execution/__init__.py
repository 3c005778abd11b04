# SPDX-License-Identifier: LGPL-2.1-only
"""Executes runs in processes on this machine: builds programs and distributes work.

Users: api, campaign, campaign/cluster, cli.
"""
