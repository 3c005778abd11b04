# SPDX-License-Identifier: LGPL-2.1-only
"""What can be done with a fabric beside running on it: make, draw and export one."""
