"""Real MPI programs, unmodified: NAS DT, EP and IS from SimGrid's sources, HPCC from Debian's."""
