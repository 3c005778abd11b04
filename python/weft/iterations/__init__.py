# SPDX-License-Identifier: LGPL-2.1-only
"""Iterations of training in time: workloads on a fabric of GPUs, with faults and traffic.

Users: api, campaign, cli, report.
"""
