# SPDX-License-Identifier: LGPL-2.1-only
"""End-to-end tests, and what they share (`tests.support`)."""
