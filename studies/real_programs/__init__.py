# SPDX-License-Identifier: LGPL-2.1-only
"""Real MPI programs, unmodified: NAS DT, EP and IS from SimGrid's sources, HPCC from Debian's."""
