# SPDX-License-Identifier: LGPL-2.1-only
"""Any topology on a real P4 switch, or in network namespaces of this machine.

Users: api, cli.
"""
