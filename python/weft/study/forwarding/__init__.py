# SPDX-License-Identifier: LGPL-2.1-only
"""Packet forwarding caches: program traffic, hit rates, hashes.

Users: api, cli.
"""
