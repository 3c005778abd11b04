# SPDX-License-Identifier: LGPL-2.1-only
"""Data of a report: runs read from stores and records, their axes and comparisons.

Users: api, cli, report/page.
"""
