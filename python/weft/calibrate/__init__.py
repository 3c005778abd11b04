# SPDX-License-Identifier: LGPL-2.1-only
"""Calibration: from measurements to fits to fabric files.

Users: api, cli, report, study.
"""
