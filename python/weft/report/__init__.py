# SPDX-License-Identifier: LGPL-2.1-only
"""Reports: self-contained pages about a campaign or about single records.

Users: api, cli.
"""
