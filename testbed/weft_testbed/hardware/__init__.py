# SPDX-License-Identifier: LGPL-2.1-only
"""Inventories: switches, servers, cables, measured latencies."""
