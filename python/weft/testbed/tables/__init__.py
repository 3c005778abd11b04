# SPDX-License-Identifier: LGPL-2.1-only
"""Entries of a plan's match-action tables, and of a running switch's.

Users: api, cli, testbed/p4, testbed/running.
"""
