# SPDX-License-Identifier: LGPL-2.1-only
"""Topologies on a real P4 switch: inventories, plans, tables, and a small testbed of namespaces."""
