# SPDX-License-Identifier: LGPL-2.1-only
"""Public API of `import weft`: typed functions on the rooms above, and notebook displays.

Users: the package itself.
"""
