# SPDX-License-Identifier: LGPL-2.1-only
"""Fabrics outside runs: graphs, new files, pictures, export.

Users: api, calibrate, cli, testbed.
"""
