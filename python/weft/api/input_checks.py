# SPDX-License-Identifier: LGPL-2.1-only
"""Argument handling and error reporting of API calls.

Every public function goes through `call`: it reports unknown and missing arguments with the likely
intended name, names fields as in the API, and raises a `WeftError` for every user error.
"""

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, Unpack, get_args, get_origin, is_typeddict

from weft import _core
from weft.api import arguments
from weft.base import extras, inputs, paths
from weft.base.errors import WeftError, named, suggestion
from weft.base.units import parse_sizes
from weft.fabric.toml_file import in_toml
from weft.runs.options import api_names

__all__ = ["ArgumentError"]

P = ParamSpec("P")
R = TypeVar("R")
PathLike = str | os.PathLike[str]
Word = str | int | float | os.PathLike[str]
"""Program argument, which is passed as text."""
Value = str | int | float | bool | Sequence[object] | Mapping[str, object]
"""Value of a fabric key; quantities are strings with their unit, such as "400Gbps"."""
Changes = Mapping[str, Value]
"""Fabric keys, TABLE.KEY, with values that replace the file's values."""
Sizes = str | int | Sequence[int | str]
"""Size in bytes: 1024, "1KiB", a doubling range ("4:1MiB"), or a list of sizes."""

# Parameter names of the API, by request field.
_NAMES = {
    **api_names(),
    "json": "path",
    "csv": "path",
    "output": "path",
    "out": "directory",
    "bytes_": "bytes",
    "chunk": "chunks",
    "target": "path",
    "compare": "weft.compare",
}


# Parameters that name output files, and the only call that reads its `path`.
WRITTEN = ("path", "plot", "timeline", "output", "directory")
_READS = ("read_record",)


class ArgumentError(WeftError, TypeError):
    """Raised if a call has an unknown argument or lacks a required one."""


def call(function: Callable[P, R]) -> Callable[P, R]:
    """Wrap a function as an API call."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise _argument_error(function, signature, kwargs, str(error)) from None
        _check(function, signature, bound)
        this = bound.arguments.get("self")
        # An object may be saved to the file that it was read from; derived output may not.
        before = None if function.__name__ == "save" else getattr(this, "_read", None)
        with speaking(), inputs.observed("the call", before) as uses:
            if function.__name__ not in _READS:
                _declare_outputs(bound)
            result = function(*bound.args, **bound.kwargs)
            if function.__name__ == "__init__":
                vars(this)["_read"] = uses
            return result

    return called


def _declare_outputs(bound: inspect.BoundArguments) -> None:
    given = {**bound.arguments, **bound.arguments.get("options", {})}
    for name in WRITTEN:
        if isinstance(given.get(name), str | os.PathLike):
            if not os.fspath(given[name]):
                raise WeftError(f"{name}: found ''; write the name of a file")
            inputs.declare_output(name, Path(given[name]))


def _check(
    function: Callable[..., object], signature: inspect.Signature, bound: inspect.BoundArguments
) -> None:
    """Check the types of all arguments, and convert NumPy numbers."""
    for name, value in bound.arguments.items():
        parameter = signature.parameters[name]
        kind = parameter.annotation
        if isinstance(kind, str):  # forward reference to a class
            kind = eval(kind, function.__globals__)
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            for one in value:
                arguments.check(name, one, kind)
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            _check_options(function.__qualname__, value, kind)
        elif name != "self":
            bound.arguments[name] = arguments.plain(value)
            arguments.check(name, bound.arguments[name], kind)


def _check_options(function: str, given: dict[str, object], kind: Any) -> None:
    """Check forwarded options, whose types are in a `TypedDict` or are all the same."""
    (options,) = get_args(kind) if get_origin(kind) is Unpack else (kind,)
    known = options.__annotations__ if is_typeddict(options) else None
    for name, value in given.items():
        if known is not None and name not in known:
            raise ArgumentError(f"weft.{function}: no argument '{name}'; {suggestion(name, known)}")
        given[name] = arguments.plain(value)
        arguments.check(name, given[name], known[name] if known else kind)


@contextmanager
def speaking() -> Iterator[None]:
    """Rephrase errors in API terms."""
    try:
        yield
    except WeftError as error:
        said = error.in_terms_of(_NAMES)
        if str(said) == str(error):
            raise
        raise said from None
    except _core.UserError as error:
        raise WeftError(str(error)) from None
    except ImportError as error:
        extra = extras.missing(error)
        if extra is None:
            raise
        raise extra from None


def _argument_error(
    function: Callable[..., object],
    signature: inspect.Signature,
    given: Mapping[str, object],
    problem: str,
) -> ArgumentError:
    name = "weft." + function.__qualname__.removesuffix(".__init__")
    known = [one for one in signature.parameters if one != "self"]
    unknown = [one for one in given if one not in known]
    if unknown:
        return ArgumentError(f"{name}: no argument '{unknown[0]}'; {suggestion(unknown[0], known)}")
    return ArgumentError(f"{name}: {problem}; the arguments are {', '.join(known)}")


def whole(name: str, value: object, least: int, most: int) -> int:
    """Return an integer within bounds."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise WeftError(
            f"{name}: found {value!r}; allowed is a whole number from {least:,} to {most:,}"
        )
    return value


def choice(name: str, value: object, allowed: Sequence[str]) -> str:
    """Return one of the allowed words."""
    if value not in allowed:
        raise WeftError(f"{name}: found {value!r}; {suggestion(str(value), allowed)}")
    return str(value)


def words(name: str, values: Sequence[Word] | Iterable[Word]) -> tuple[str, ...]:
    """Return a list as texts."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise WeftError(f'{name}: found {values!r}; write a list, such as ["a", 1]')
    return tuple(os.fspath(one) if isinstance(one, os.PathLike) else str(one) for one in values)


def changes(values: Changes | None) -> tuple[str, ...]:
    """Return fabric changes in the command line's form: TABLE.KEY=VALUE."""
    if values is None:
        return ()
    if not isinstance(values, Mapping):
        raise WeftError(f'set: found {values!r}; write keys with values: {{"switch.slots": 64}}')
    return tuple(f"{key}={_value(value)}" for key, value in values.items())


def _value(value: object) -> str:
    return value if isinstance(value, str) else _inline(value)


def _inline(value: object) -> str:
    """Return a value as TOML on one line, with inline tables."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_inline(one)}" for key, one in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return in_toml(value)


def settings(values: Mapping[str, object] | Sequence[str]) -> tuple[str, ...]:
    """Return SimGrid options as KEY:VALUE."""
    if isinstance(values, Mapping):
        return tuple(f"{key}:{_setting(value)}" for key, value in values.items())
    return words("cfg", values)


def _setting(value: object) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def sizes(name: str, values: Sizes) -> list[int]:
    """Return sizes in bytes."""
    if isinstance(values, str | int):
        values = [values]
    found = [size for one in values for size in parse_sizes(str(one), name)]
    if not found:
        raise WeftError(f"{name}: found an empty list; write at least one size")
    return list(dict.fromkeys(found))


def measured(name: str, table: PathLike) -> Path:
    """Return a table of measurements: a file, or a shipped table by name."""
    found = Path(table)
    if found.exists():
        return found
    shipped = {path.stem: path for path in sorted(paths.installed("data").glob("*.csv"))}
    if str(table) not in shipped:
        raise WeftError(
            f"{name}: found '{table}': there is no such file and no shipped table of that name;"
            f" {suggestion(str(table), shipped)}"
        )
    return shipped[str(table)]


def existing(name: str, path: PathLike) -> Path:
    """Return a path that must exist."""
    found = Path(path)
    if not found.exists():
        raise WeftError(f"{named(name)}: found '{found}', and there is no such file")
    return found
