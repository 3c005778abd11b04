# SPDX-License-Identifier: LGPL-2.1-only
"""Validation of the simulation against measured tables, shipped or supplied by the user.

Users: api, cli, report.
"""
