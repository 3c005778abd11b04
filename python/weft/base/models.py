# SPDX-License-Identifier: LGPL-2.1-only
"""Typed models of weft's JSON files, on msgspec: strict reading, lossless writing, JSON schemas.

A key unknown to a model was written by a newer weft: `extra` keeps it, and it is written back. Any
other deviation from the model is an error that names its position in the file. docs/schema contains
the models as JSON schemas (`studies/schemas.py`).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Annotated, Any, Literal, Self, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from weft.base.output import whole_file
from weft.base.user_files import UnreadableError, described

Whole = Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
"""64-bit integer, as C++ writes it."""
Number = (
    Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
    | Annotated[float, Meta(ge=-(2.0**64), le=2.0**64)]
)
"""Finite number; integers stay integers."""

_MISSING = re.compile(r"Object missing required field `(.*)`")
_EXPECTED = re.compile(r"Expected `(.*)`, got `.*`")
_BOUND = re.compile(r"Expected `(.*)` ([<>]=) (\S+)")
_SCALARS = (str, int, float, bool, type(None), msgspec.UnsetType)
_NESTING = frozenset({dict, list, tuple})
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]|\[\.\.\.\]")
_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "bool": "true or false",
    "null": "null",
    "object": "an object",
    "array": "a list",
}


class Model(msgspec.Struct, kw_only=True, dict=True, omit_defaults=False):
    """JSON object of a file."""

    @property
    def extra(self) -> dict[str, Any]:
        """Keys written by a newer weft in addition to the fields."""
        found: dict[str, Any] = self.__dict__.setdefault("_extra", {})
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        """Include the extra keys when pickling."""
        made = super().__reduce__()
        assert isinstance(made, tuple)
        return *made, dict(self.__dict__)

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Read an object. Raises `UnreadableError` if a field is missing or has another type."""
        try:
            found = msgspec.convert(data, cls)
        except msgspec.ValidationError as error:
            raise UnreadableError(_said(cls, str(error), data)) from None
        _keep_extra(found, data)
        return found

    @classmethod
    def from_own_json(cls, text: bytes) -> Self:
        """Read JSON written by this version of weft, which has no extra keys.

        For records with a row per link, this takes a tenth of the time of `from_json`. Raises
        `UnreadableError` as `from_json` does, and `json.JSONDecodeError` if the text is not JSON.
        """
        try:
            return msgspec.json.decode(text, type=cls)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return cls.from_json(json.loads(text.decode(errors="replace")))  # for the better error

    def to_json(self) -> dict[str, Any]:
        """Return the object for `json`: declared fields in order, then a newer weft's keys."""
        own = {name: getattr(self, name) for name in self.__struct_fields__}
        return {
            **{name: _as_json(one) for name, one in own.items() if one is not msgspec.UNSET},
            **self.extra,
        }


class SchemaModel(Model, kw_only=True):
    """Schema name of a file, which identifies its type; other keys are ignored."""

    schema: str


@cache
def _is_row(kind: type) -> bool:
    """Return true if all fields of a model are scalars, so that rows need no conversion."""
    return issubclass(kind, Model) and all(map(_is_scalar, get_type_hints(kind).values()))


def _is_scalar(kind: Any) -> bool:
    if get_origin(kind) is Literal:
        return True
    parts = get_args(kind)
    return all(map(_is_scalar, parts)) if parts else kind in _SCALARS


def _rows_as_json(rows: Sequence["Model"]) -> list[dict[str, Any]]:
    """Return the results of `to_json` for many rows, in a fraction of the time."""
    made: list[dict[str, Any]] = msgspec.to_builtins(rows)
    for row, one in zip(rows, made, strict=True):
        if extra := getattr(row, "_extra", None):
            one.update(extra)
    return made


def _as_json(value: Any) -> Any:
    if isinstance(value, Model):
        return value.to_json()
    if isinstance(value, list | tuple):
        kind: type = type(value[0]) if value else object
        if _is_row(kind):
            return _rows_as_json(value)
        return [_as_json(one) for one in value]
    if isinstance(value, dict):
        return {name: _as_json(one) for name, one in value.items()}
    return value


def _keep_extra(found: Any, data: Any) -> None:
    if isinstance(found, Model):
        names = found.__struct_fields__
        if len(data) > len(names) or not set(names).issuperset(data):
            found.extra.update({name: data[name] for name in data if name not in names})
        if _is_row(type(found)):
            return
        for name in names:
            if name in data:
                _keep_extra(getattr(found, name), data[name])
    elif isinstance(found, list | tuple) and found and isinstance(found[0], Model | dict):
        for one, given in zip(found, data, strict=True):
            _keep_extra(one, given)
    elif isinstance(found, dict):
        for name, one in found.items():
            _keep_extra(one, data[name])


def write_model(model: Model, target: Path, option: str) -> None:
    """Write a model as JSON, atomically; `option` names the file in error messages."""
    with whole_file(option, target) as file:
        write_json(model.to_json(), file)


def write_json(data: Any, file: IO[str]) -> None:
    """Write the same text as `json.dump` with an indent of 1, many times faster for many rows."""
    for piece in _indented(data, "\n"):
        file.write(piece)
    file.write("\n")


def _indented(value: Any, line: str) -> Iterator[str]:
    """Yield the text of a value; `line` is the prefix of each line but the first."""
    within = line + " "
    if not value or type(value) not in _NESTING:
        yield json.dumps(value)
    elif type(value) is dict:
        before = "{"
        for name, one in value.items():
            yield f"{before}{within}{json.dumps(name)}: "
            yield from _indented(one, within)
            before = ","
        yield line + "}"
    elif _are_flat(value):
        yield f"[{within}{_flat(value, within)}{line}]"
    else:
        before = "["
        for one in value:
            yield before + within
            yield from _indented(one, within)
            before = ","
        yield line + "]"


def _are_flat(rows: Sequence[Any]) -> bool:
    """Return true if all rows are scalars, or objects that contain only scalars."""
    if dict not in map(type, rows):
        return _are_scalars(rows)
    return all(type(row) is dict and row and _are_scalars(row.values()) for row in rows)


def _are_scalars(values: Iterable[Any]) -> bool:
    return _NESTING.isdisjoint(map(type, values))


def _flat(rows: Sequence[Any], line: str) -> str:
    """Return the text of flat rows, encoded in one pass: encoded strings contain no newline."""
    others, fields = f",{line}", f",{line} "
    if type(rows[0]) is not dict:
        return json.dumps(rows, separators=(others, ": "))[1:-1]
    text = json.dumps(rows, separators=(fields, ": "))[2:-2]
    text = text.replace(f"}}{fields}{{", f"{line}}}{others}{{{line} ")
    return f"{{{line} {text}{line}}}"


def unknown(found: Any, place: str = "") -> Iterator[str]:
    """Yield the keys of a parsed file that its model lacks, with their positions."""
    if isinstance(found, Model):
        yield from (f"{place}{name}" for name in found.extra)
        for name in found.__struct_fields__:
            yield from unknown(getattr(found, name), f"{place}{name}.")
    elif isinstance(found, Sequence) and not isinstance(found, str):
        for one in found:
            yield from unknown(one, place)
    elif isinstance(found, Mapping):
        for one in found.values():
            yield from unknown(one, place)


def schema(kind: type[Model], name: str) -> dict[str, Any]:
    """Return the JSON schema of a file."""
    found = msgspec.json.schema(kind)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": name, **found}


def _said(kind: type[Model], problem: str, data: Any) -> str:
    """Return a msgspec error in weft's wording: position, found value, allowed values."""
    reason, _, place = problem.partition(" - at `")
    path = place.removeprefix("key in ").strip("`").removeprefix("$")
    name = path.lstrip(".")
    if missing := _MISSING.fullmatch(reason):
        where = f" in '{name}'" if name else ""
        return f"'{missing[1]}' is missing{where}"
    if expected := _EXPECTED.fullmatch(reason):
        allowed = _allowed(expected[1])
    elif bound := _BOUND.fullmatch(reason):
        allowed = f"{_allowed(bound[1])} {bound[2]} {bound[3]}"
    else:
        allowed = " or ".join(map(repr, _words(kind, path))) or reason
    if not name:
        return f"found {described(data)}; allowed is {allowed}"
    return f"'{name}' is {_found(data, path)}, but must be {allowed}"


def _allowed(kinds: str) -> str:
    words = dict.fromkeys(_WORDS.get(kind, kind) for kind in kinds.split(" | "))
    if "a number" in words:
        words.pop("a whole number", None)
    return " or ".join(words)


def _words(kind: Any, path: str) -> Iterator[str]:
    """Yield the words allowed at a position; msgspec reports only the value found."""
    for step in _STEP.finditer(path):
        inner = [one for one in (kind, *get_args(kind)) if hasattr(one, "__struct_fields__")]
        kind = get_type_hints(inner[-1])[step[1]] if step[1] and inner else get_args(kind)[-1]
    for one in (kind, *get_args(kind)):
        if get_origin(one) is Literal:
            yield from get_args(one)


def _found(data: Any, path: str) -> str:
    """Return the value found at a position; msgspec does not report the key within a map."""
    for step in _STEP.finditer(path):
        key, index = step.groups()
        if key is None and index is None:
            return "of another kind"
        try:
            data = data[key if index is None else int(index)]
        except (KeyError, IndexError, TypeError):
            return "of another kind"
    return described(data)
