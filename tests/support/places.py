# SPDX-License-Identifier: LGPL-2.1-only
"""Where the checkout and its tests are."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
