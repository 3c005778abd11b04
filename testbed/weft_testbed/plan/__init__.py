# SPDX-License-Identifier: LGPL-2.1-only
"""Plans: requested topologies mapped onto an inventory by a constraint solver; files, pictures."""
