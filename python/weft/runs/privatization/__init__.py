# SPDX-License-Identifier: LGPL-2.1-only
"""Which of a program's variables and libraries each rank needs its own copy of.

Users: runs.
"""
