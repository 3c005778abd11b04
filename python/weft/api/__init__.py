# SPDX-License-Identifier: LGPL-2.1-only
"""What `import weft` gives: the calls of a program or notebook, on the groups beside this one."""
