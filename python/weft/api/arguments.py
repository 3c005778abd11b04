# SPDX-License-Identifier: LGPL-2.1-only
"""Type checks of arguments, and descriptions of types for error messages.

The checks cover the types that occur in annotations of public functions. A string is not a list of
characters, and a bool is not a number.
"""

import os
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from weft.base.errors import WeftError, suggestion

_SHOWN = 200
_WORDS = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    os.PathLike: "a path",
    Path: "a path",
    type(None): "None",
}


def plain(value: object) -> object:
    """Convert numbers and lists from NumPy and Polars to Python."""
    for name in ("tolist", "to_list"):
        if (method := getattr(value, name, None)) is not None and not isinstance(value, type):
            return method()
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return value


def check(name: str, value: object, kind: Any) -> None:
    """Check an argument against its type. Raises `WeftError`, which names the argument."""
    if not _fits(value, kind):
        place, value, kind = _innermost(name, value, kind)
        text = repr(value)
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
        raise WeftError(f"{place}: found {shown}; {_allowed(value, kind)}")
    if any("\0" in one for one in _texts(value)):
        raise WeftError(f"{name}: found {value!r}; allowed are texts without the character 0")


def _texts(value: object) -> Iterator[str]:
    """Yield the texts in a value, including those nested in lists and dictionaries."""
    if isinstance(value, str | os.PathLike):
        yield os.fsdecode(value)
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from (*_texts(key), *_texts(one))
    elif isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from _texts(one)


def _innermost(place: str, value: object, kind: Any) -> tuple[str, object, Any]:
    """Return position, value and expected type of the innermost mismatch."""
    for one in _members(kind):
        origin, inner = get_origin(one), get_args(one)
        if origin is Mapping and isinstance(value, Mapping):
            wrong = next((k for k, v in value.items() if not _fits(v, inner[1])), None)
            if wrong is not None:
                return _innermost(f"{place}[{wrong!r}]", value[wrong], inner[1])
        if origin in (Sequence, Iterable) and isinstance(value, list | tuple):
            number = next(k for k, v in enumerate(value) if not _fits(v, inner[0]))
            return _innermost(f"{place}[{number}]", value[number], inner[0])
    return place, value, kind


def _members(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


def _allowed(value: object, kind: Any) -> str:
    words = [word for one in _members(kind) if get_origin(one) is Literal for word in get_args(one)]
    if words and isinstance(value, str):
        return suggestion(value, words)
    return f"allowed is {in_words(kind)}"


def _fits(value: object, kind: Any) -> bool:
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin in (Any, object):
        return True
    if origin in (Union, types.UnionType):
        return any(_fits(value, one) for one in inner)
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in inner)
    if origin in (int, float) and isinstance(value, bool):
        return False
    if origin is float:
        return isinstance(value, int | float) and value == value
    if origin is Callable:
        return callable(value)
    if origin in (Sequence, Iterable):
        listed = isinstance(value, origin) and not isinstance(value, str | bytes | Mapping)
        return listed and all(_fits(one, inner[0]) for one in value)  # type: ignore[attr-defined]
    if origin is Mapping:
        return isinstance(value, Mapping) and all(
            _fits(key, inner[0]) and _fits(one, inner[1]) for key, one in value.items()
        )
    return isinstance(value, origin) if isinstance(origin, type) else True


def in_words(kind: Any) -> str:
    """Return a description of the allowed values, for an error message."""
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(in_words(one) for one in inner if one is not type(None)))
    if origin is Literal:
        return " or ".join(map(repr, inner))
    if origin is Callable:
        return "a function"
    if origin in (Sequence, Iterable):
        return f"a list (of {in_words(inner[0])})" if inner[0] is not object else "a list"
    if origin is Mapping:
        values = "" if inner[1] is object else f" (its values: {in_words(inner[1])})"
        return f"a dictionary{values}"
    if origin is object:
        return "anything"
    if origin in _WORDS:
        return _WORDS[origin]
    return f"a {kind.__name__}" if kind.__module__ == "builtins" else f"weft.{kind.__name__}"
