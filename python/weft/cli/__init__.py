# SPDX-License-Identifier: LGPL-2.1-only
"""Command line: one file per command, which parses options, calls the API and prints results.

Commands are loaded lazily (`groups.lazy_group`).

Users: `weft.entry`, and the folders below for shared code.
"""
