# SPDX-License-Identifier: LGPL-2.1-only
"""Campaigns: many runs described by one file, each executed only once, and their tables.

Users: api, cli, report, schemas.
"""
