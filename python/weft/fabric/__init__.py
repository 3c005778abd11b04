# SPDX-License-Identifier: LGPL-2.1-only
"""Fabrics outside of runs: graph, new files, pictures, export.

Users: api, calibrate, cli, testbed.
"""
