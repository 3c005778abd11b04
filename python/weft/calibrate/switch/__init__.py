# SPDX-License-Identifier: LGPL-2.1-only
"""Fit of a switch's parameters to measured Allreduces.

Users: api, cli.
"""
