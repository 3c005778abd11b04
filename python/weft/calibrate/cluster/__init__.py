# SPDX-License-Identifier: LGPL-2.1-only
"""Calibrates a fabric file from a folder of benchmark outputs of a whole cluster.

Users: api, cli.
"""
