# SPDX-License-Identifier: LGPL-2.1-only
"""Time-independent traces: the actions of each rank of a program, without times.

Users: api, cli, runs, study.
"""
