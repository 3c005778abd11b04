# SPDX-License-Identifier: LGPL-2.1-only
"""A testbed that is up: namespaces, changes, probes, status.

Users: api, cli.
"""
