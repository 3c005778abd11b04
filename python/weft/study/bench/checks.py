# SPDX-License-Identifier: LGPL-2.1-only
"""Checks of modes and sizes shared by the benchmarks."""

import os
from collections.abc import Callable, Sequence

from weft.base.errors import WeftError, named, suggestion
from weft.base.inputs import OutputIsInputError
from weft.base.units import format_size
from weft.runs import launch
from weft.runs.simgrid import SimGrid

_INT_BYTES = 4

Progress = Callable[[str, int], object]
"""Called with mode and bytes when a size is finished."""


def check_mode(parameter: str, mode: str, own: Sequence[str], simgrid: SimGrid) -> None:
    """Check that a mode is one of a study's own modes, or a valid choice of host algorithms."""
    if mode in own:
        return
    try:
        launch.check_fallback(named(parameter), mode, simgrid)
    except OutputIsInputError:
        raise
    except WeftError as error:
        if os.path.exists(mode):  # a selection file with an error, not a mistyped mode
            raise
        raise WeftError(f"{error.message}; of the other modes {suggestion(mode, own)}") from None


def check_memory(size: int, buffers: int) -> None:
    """Check that the buffers fit into memory, and that MPI can count their elements as int."""
    has = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    most = min(has // buffers, _INT_BYTES * (2**31 - 1))
    if size > most:
        raise WeftError(
            f"{named('sizes')}:"
            f" found {format_size(size)}; allowed are at most {format_size(most)} on this"
            f" machine, whose memory ({format_size(has)}) holds {buffers} buffers of that size"
        )
