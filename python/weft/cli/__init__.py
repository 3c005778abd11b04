# SPDX-License-Identifier: LGPL-2.1-only
"""Command line: a file per command, which parses, calls the API and prints.

A command's file is loaded when the command is named (`groups.lazy_group`).

Users: `weft.entry`, and its folders for what they share.
"""
