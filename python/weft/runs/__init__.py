"""One run of a program: what is asked for, SimGrid's part, the record, and what is shown of it."""
