# SPDX-License-Identifier: LGPL-2.1-only
"""JSON schemas of the files that users write.

Users: api, cli.
"""
