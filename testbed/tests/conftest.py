# SPDX-License-Identifier: LGPL-2.1-only
"""Fixtures shared with weft's own end-to-end tests."""

from tests.python.conftest import program, run

__all__ = ["program", "run"]
