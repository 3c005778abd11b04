"""MPICH's test programs, as SimGrid brings them along, under stock SMPI and under `weft run`."""
