# SPDX-License-Identifier: LGPL-2.1-only
"""Cache of facts about files, valid until the files change: campaigns query them for each run."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from weft.base import inputs

_More = ParamSpec("_More")
_Said = TypeVar("_Said")


def kept(
    function: Callable[Concatenate[Path, _More], _Said],
) -> Callable[Concatenate[Path, _More], _Said]:
    """Memoize a function of a file until the file changes; further arguments are part of the key.

    Further arguments must be hashable. Errors are not cached.
    """
    known: dict[object, tuple[object, _Said]] = {}

    @wraps(function)
    def asked(path: Path, /, *more: _More.args, **named: _More.kwargs) -> _Said:
        try:
            about = path.stat()
        except OSError:
            return function(path, *more, **named)
        state = (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
        question = (path.absolute(), more, tuple(named.items()))
        before = known.get(question)
        if before is None or before[0] != state:
            known[question] = before = (state, function(path, *more, **named))
        else:
            inputs.noted(path)
        return before[1]

    return asked
