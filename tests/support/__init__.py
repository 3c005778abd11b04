# SPDX-License-Identifier: LGPL-2.1-only
"""Shared test infrastructure: programs, runs of weft, fabrics, campaigns, testbeds, servers.

Fixtures of all tests are in tests/python/conftest.py. There are no tests here.
"""
