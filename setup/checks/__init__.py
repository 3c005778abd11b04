# SPDX-License-Identifier: LGPL-2.1-only
"""Checks of `make lint` that no existing tool provides."""
