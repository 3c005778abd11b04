# SPDX-License-Identifier: LGPL-2.1-only
"""Growth of simulation cost: docs/growth.md, with fitted scaling exponents."""
