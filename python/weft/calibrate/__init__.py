# SPDX-License-Identifier: LGPL-2.1-only
"""Calibration: parameters of fabric files, fitted to tables of measurements."""
