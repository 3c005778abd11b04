# SPDX-License-Identifier: LGPL-2.1-only
"""Calibration: measurements → fits → fabric files.

Users: api, cli, report, study.
"""
