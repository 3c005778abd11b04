# SPDX-License-Identifier: LGPL-2.1-only
"""Campaigns: many runs that one file describes, none of which is made twice; their tables.

Users: api, cli, report.
"""
