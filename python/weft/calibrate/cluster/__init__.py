# SPDX-License-Identifier: LGPL-2.1-only
"""Calibrates a fabric file from a folder of a cluster's benchmark outputs.

Users: api, cli.
"""
