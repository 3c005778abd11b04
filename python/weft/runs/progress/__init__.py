# SPDX-License-Identifier: LGPL-2.1-only
"""Progress of runs while they simulate: what libweft.so shows of them, and lines about it.

Users: cli, runs, runs/jobs.
"""
