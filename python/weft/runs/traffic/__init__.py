# SPDX-License-Identifier: LGPL-2.1-only
"""Background traffic of a run: its file, schedules in GOAL, and the hosts that send.

Users: iterations, runs, runs/jobs, schemas.
"""
