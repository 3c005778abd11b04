# SPDX-License-Identifier: LGPL-2.1-only
"""Fits switch parameters to measured Allreduces.

Users: api, cli.
"""
