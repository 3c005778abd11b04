# SPDX-License-Identifier: LGPL-2.1-only
"""weft simulates MPI programs on clusters whose switches compute.

`weft.cli` parses command lines and calls the groups beside it, which are the API: `runs` for one
run, `study` for several, `fabric`, `testbed`, `calibrate` and `trace` for what their names say;
`base` is what all of them stand on. The compiled core is `weft._core`.

What documents name as `weft.NAME` stands in `_PUBLIC`, wherever its group is. It is loaded when it
is asked for, and nothing is imported here but what Python has imported already: build systems call
`weft-cc` hundreds of times.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from weft.base import paths

__all__ = ["paths"]

_PUBLIC = {"paths": "weft.base.paths"}


def __getattr__(name: str) -> object:
    """Load what is public when it is asked for."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'weft' has no attribute '{name}'")
    from importlib import import_module

    return import_module(_PUBLIC[name])
