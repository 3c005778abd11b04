# SPDX-License-Identifier: LGPL-2.1-only
"""Micro-benchmarks of collectives and messages, by mode and size.

Users: api, cli, study, study/validation.
"""
