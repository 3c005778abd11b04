# SPDX-License-Identifier: LGPL-2.1-only
"""Paths of the checkout and its tests."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
