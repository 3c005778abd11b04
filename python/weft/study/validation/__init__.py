# SPDX-License-Identifier: LGPL-2.1-only
"""The simulation against measured tables, shipped ones and a user's own.

Users: api, cli, report.
"""
