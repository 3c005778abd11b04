# SPDX-License-Identifier: LGPL-2.1-only
"""Functions and classes of `import weft`: typed calls on the rooms above, and notebook displays.

Users: the package itself.
"""
