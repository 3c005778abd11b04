# SPDX-License-Identifier: LGPL-2.1-only
"""Inventories: switches, servers, cables, measured latencies.

Users: api, cli, testbed/p4, testbed/plan, testbed/running, testbed/tables.
"""
