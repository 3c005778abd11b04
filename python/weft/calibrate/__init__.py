# SPDX-License-Identifier: LGPL-2.1-only
"""Calibration: fits fabric files to measurements.

Users: api, cli, report, study.
"""
