# SPDX-License-Identifier: LGPL-2.1-only
"""Readers of other tools' topology files: hosts, switches and cables as stated in the file.

Users: fabric.
"""
