# SPDX-License-Identifier: LGPL-2.1-only
"""Executes runs on a cluster with Parsl and Slurm.

Users: api, campaign, cli.
"""
