# SPDX-License-Identifier: LGPL-2.1-only
"""Reports of campaigns: one page that opens anywhere, with all that it shows in it."""
