# SPDX-License-Identifier: LGPL-2.1-only
"""Execution of runs by processes of this machine: programs built, work shared.

Users: api, campaign, campaign/cluster, cli.
"""
