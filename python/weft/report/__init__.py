# SPDX-License-Identifier: LGPL-2.1-only
"""Reports: a self-contained page about a campaign or about single records.

Users: api, cli.
"""
