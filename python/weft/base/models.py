# SPDX-License-Identifier: LGPL-2.1-only
"""Typed models of weft's JSON files, on msgspec: read strictly, written as they were, with schemas.

A key that a model does not have was written by a newer weft: it is kept in `extra` and written
again. All else that does not fit is refused, with its place in the file. docs/schema has the
models as JSON schema (`studies/schemas.py`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Self, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from weft.base.reading import UnreadableError, described

Whole = Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
"""A whole number of 64 bits, as C++ writes them."""
Number = (
    Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
    | Annotated[float, Meta(ge=-(2.0**64), le=2.0**64)]
)
"""A number that is finite; a whole one stays whole."""

_MISSING = re.compile(r"Object missing required field `(.*)`")
_EXPECTED = re.compile(r"Expected `(.*)`, got `.*`")
_BOUND = re.compile(r"Expected `(.*)` ([<>]=) (\S+)")
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
    """An object of a file."""

    @property
    def extra(self) -> dict[str, Any]:
        """What a newer weft has written beside the fields."""
        found: dict[str, Any] = self.__dict__.setdefault("_extra", {})
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        """Let what stands beside the fields go to another process, too."""
        made = super().__reduce__()
        assert isinstance(made, tuple)
        return *made, dict(self.__dict__)

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Read it. Raises `UnreadableError` where something is missing or is of another type."""
        try:
            found = msgspec.convert(data, cls)
        except msgspec.ValidationError as error:
            raise UnreadableError(_said(cls, str(error), data)) from None
        _keep_extra(found, data)
        return found

    def to_json(self) -> dict[str, Any]:
        """Return what `json` writes: the fields in their order, then what a newer weft has."""
        own = {name: getattr(self, name) for name in self.__struct_fields__}
        return {
            **{name: _as_json(one) for name, one in own.items() if one is not msgspec.UNSET},
            **self.extra,
        }


class OfSchema(Model, kw_only=True):
    """A file of which only the schema is looked at: whether it is what it should be."""

    schema: str


def _as_json(value: Any) -> Any:
    if isinstance(value, Model):
        return value.to_json()
    if isinstance(value, list | tuple):
        return [_as_json(one) for one in value]
    if isinstance(value, dict):
        return {name: _as_json(one) for name, one in value.items()}
    return value


def _keep_extra(found: Any, data: Any) -> None:
    if isinstance(found, Model):
        names = found.__struct_fields__
        if len(data) > len(names) or not set(names).issuperset(data):
            found.extra.update({name: data[name] for name in data if name not in names})
        for name in names:
            if name in data:
                _keep_extra(getattr(found, name), data[name])
    elif isinstance(found, list | tuple) and found and isinstance(found[0], Model | dict):
        for one, given in zip(found, data, strict=True):
            _keep_extra(one, given)
    elif isinstance(found, dict):
        for name, one in found.items():
            _keep_extra(one, data[name])


def unknown(found: Any, place: str = "") -> Iterator[str]:
    """Yield the keys of a read file, by place, that its model does not have."""
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
    """Return a message of msgspec's in weft's words: the place, what was found, what is allowed."""
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
        return f"the whole is {described(data)}, and allowed is {allowed}"
    return f"'{name}' is {_found(data, path)}, and allowed is {allowed}"


def _allowed(kinds: str) -> str:
    words = dict.fromkeys(_WORDS.get(kind, kind) for kind in kinds.split(" | "))
    if "a number" in words:
        words.pop("a whole number", None)
    return " or ".join(words)


def _words(kind: Any, path: str) -> Iterator[str]:
    """Yield the words that are allowed at a place: of it, msgspec says only what was found."""
    for step in _STEP.finditer(path):
        inner = [one for one in (kind, *get_args(kind)) if hasattr(one, "__struct_fields__")]
        kind = get_type_hints(inner[-1])[step[1]] if step[1] and inner else get_args(kind)[-1]
    for one in (kind, *get_args(kind)):
        if get_origin(one) is Literal:
            yield from get_args(one)


def _found(data: Any, path: str) -> str:
    """Return what stands at a place; msgspec does not say at which key of a map it is."""
    for step in _STEP.finditer(path):
        key, index = step.groups()
        if key is None and index is None:
            return "of another kind"
        try:
            data = data[key if index is None else int(index)]
        except (KeyError, IndexError, TypeError):
            return "of another kind"
    return described(data)
