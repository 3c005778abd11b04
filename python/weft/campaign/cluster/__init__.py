# SPDX-License-Identifier: LGPL-2.1-only
"""Execution of runs on a cluster, by Parsl and Slurm.

Users: api, campaign, cli.
"""
