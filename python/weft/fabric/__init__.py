# SPDX-License-Identifier: LGPL-2.1-only
"""Fabrics beside runs on them: graph, new files, pictures, export.

Users: api, calibrate, cli, testbed.
"""
