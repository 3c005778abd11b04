# SPDX-License-Identifier: LGPL-2.1-only
"""Plans: wanted topologies mapped on an inventory by a constraint solver; their files, pictures.

Users: api, cli, testbed/p4, testbed/running, testbed/tables.
"""
