# SPDX-License-Identifier: LGPL-2.1-only
"""What a simulation costs as it grows: docs/growth.md, and the exponents that are fitted to it."""
