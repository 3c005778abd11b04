# SPDX-License-Identifier: LGPL-2.1-only
"""Faults of a run: their file, and their events on a fabric.

Users: runs, runs/jobs.
"""
