# SPDX-License-Identifier: LGPL-2.1-only
"""Reports: one page that opens anywhere, of a campaign or of single records.

Users: api, cli.
"""
