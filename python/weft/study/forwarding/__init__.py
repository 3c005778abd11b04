# SPDX-License-Identifier: LGPL-2.1-only
"""Packet forwarding caches: traffic of programs, hit rates, hashes.

Users: api, cli.
"""
