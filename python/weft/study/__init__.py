"""Several runs beside each other: benches, comparisons, checks against measurements."""
