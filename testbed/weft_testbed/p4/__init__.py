# SPDX-License-Identifier: LGPL-2.1-only
"""Switch programs, scripts that fill their tables, and a P4Runtime client."""
