# SPDX-License-Identifier: LGPL-2.1-only
"""Detection of variables and libraries of a program that need a copy per rank.

Users: runs.
"""
