# SPDX-License-Identifier: LGPL-2.1-only
"""Shared test infrastructure: programs, runs of weft, fabrics, campaigns, testbeds, servers.

tests/python/conftest.py contains the fixtures of all tests. This package contains no tests.
"""
