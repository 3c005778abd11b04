# SPDX-License-Identifier: LGPL-2.1-only
"""A fabric file from a folder of benchmark outputs of a whole cluster.

Users: api, cli.
"""
