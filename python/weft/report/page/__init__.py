# SPDX-License-Identifier: LGPL-2.1-only
"""The HTML page: sentences, sections, charts, scripts.

Users: api, cli.
"""
