# SPDX-License-Identifier: LGPL-2.1-only
"""Calibrates the [host] table: parameter search, intervals, and measurements of this machine.

Users: api, calibrate/cluster, cli, study.
"""
