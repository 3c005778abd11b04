# SPDX-License-Identifier: LGPL-2.1-only
"""Time-independent traces: what each rank of a program did, without the times.

Users: api, cli, runs, study.
"""
