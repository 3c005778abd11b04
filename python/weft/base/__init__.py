# SPDX-License-Identifier: LGPL-2.1-only
"""Errors, units, files written whole, models of files, child processes, the look of plots.

Users: all rooms.
"""
