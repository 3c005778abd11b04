# SPDX-License-Identifier: LGPL-2.1-only
"""Public API of `import weft`: typed functions on top of the other rooms, and notebook displays.

Users: the package itself.
"""
