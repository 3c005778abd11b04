# SPDX-License-Identifier: LGPL-2.1-only
"""Errors, units, atomic file output, typed file models, child processes and the style of plots.

Users: all rooms.
"""
