"""What everything else stands on: errors, units, files read and written, processes, figures."""
