# SPDX-License-Identifier: LGPL-2.1-only
"""Fit of the [host] table: search of keys, intervals, and measurements of this machine.

Users: api, calibrate/cluster, cli, study.
"""
