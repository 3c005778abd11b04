"""weft simulates MPI programs on clusters whose switches compute.

`weft.cli` parses command lines and calls the modules beside it; these are the API. The compiled
core is `weft._core`.
"""
