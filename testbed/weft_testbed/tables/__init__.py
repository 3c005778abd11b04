# SPDX-License-Identifier: LGPL-2.1-only
"""Entries of match-action tables, as planned and as found on a running switch."""
