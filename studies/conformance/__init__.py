# SPDX-License-Identifier: LGPL-2.1-only
"""MPICH's test programs, as shipped with SimGrid, under stock SMPI and under `weft run`."""
