# SPDX-License-Identifier: LGPL-2.1-only
"""What tests share: programs compiled once, runs of weft, fabrics, campaigns, testbeds, servers.

Fixtures of all tests are in tests/python/conftest.py. Nothing here is a test.
"""
