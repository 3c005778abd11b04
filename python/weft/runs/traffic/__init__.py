# SPDX-License-Identifier: LGPL-2.1-only
"""Background traffic of a run: its file, GOAL schedules, and the sending hosts.

Users: iterations, runs, runs/jobs, schemas.
"""
