# SPDX-License-Identifier: LGPL-2.1-only
"""Determines which of a program's variables and libraries need a copy per rank.

Users: runs.
"""
