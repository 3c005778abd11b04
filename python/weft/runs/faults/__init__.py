# SPDX-License-Identifier: LGPL-2.1-only
"""Faults of a run: their file, presets and changes, their events on a fabric, and their spans.

Users: campaign, iterations, report, runs, schemas, study.
"""
