# SPDX-License-Identifier: LGPL-2.1-only
"""Figures 3 to 5, 7 to 9, 11, 12 and 15 to 18 of Clauss et al. (IPDPS 2011): docs/paper-001.md.

The studies simulate the paper's own clusters, griffon and gdx, as described in SimGrid's source
distribution.
"""
