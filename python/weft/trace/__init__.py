# SPDX-License-Identifier: LGPL-2.1-only
"""Time-independent traces: the actions of each rank, without times.

Users: api, cli, runs, study.
"""
