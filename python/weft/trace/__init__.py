"""Time-independent traces: what each rank of a program did, without the times."""
