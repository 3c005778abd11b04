# SPDX-License-Identifier: LGPL-2.1-only
"""MPICH's test programs, as SimGrid brings them along, under stock SMPI and under `weft run`."""
