# SPDX-License-Identifier: LGPL-2.1-only
"""Iterations of training as runs of a campaign: what each executes, and what its digest depends on.

[programs.llama]
model = "llama.toml"

[[runs]]
program = "llama"
fabric = "superpod-h100-32"
collectives = ["rings and trees", "NVLS", "SHARP"]
parallel.tensor = [4, 8]
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from weft import _core
from weft.base.errors import WeftError
from weft.base.options import parse
from weft.base.user_files import read_text
from weft.campaign.file.axes import Point, Value
from weft.campaign.file.keys import COLLECTIVES
from weft.iterations.iteration import LIBRARY, Conditions
from weft.training.file import KEYS, load_model
from weft.training.run import parsed_slowdown
from weft.training.variants import VARIANTS


@dataclass(frozen=True)
class IterationPlan:
    """An iteration of training that a run executes."""

    model: str
    """Training file, or preset of a model."""
    model_changes: tuple[str, ...]
    conditions: Conditions
    ranks: int


def plan(point: Point, model: str, fabric: str) -> IterationPlan:
    """Return the iteration of a combination.

    Raises `WeftError` if its values do not fit the model, or if no GPU is named.
    """
    changes = tuple(model_changes(point))
    file = load_model(model, changes)
    if not file.method.gpu:
        raise WeftError(
            f"{file.source}: [train] gpu is missing: the preset of the GPU that computes; give it"
            " there, or write train.gpu in [[runs]]"
        )
    conditions = Conditions(
        fabric=fabric,
        changes=tuple(fabric_changes(point)),
        library=str(point.get("fallback", LIBRARY)),
        slowdown=parsed_slowdown(slowdowns(point), "slowdown"),
    )
    return IterationPlan(model, changes, conditions, file.parallel.ranks)


def slowdowns(point: Mapping[str, Value]) -> list[str]:
    """Return the factors RANK=FACTOR of computation; an empty text is none."""
    return [one for one in str(point.get("slowdown", "")).split(",") if one]


def is_of_model(key: str) -> bool:
    """Return true for a key of the training file."""
    table, dot, _ = key.partition(".")
    return bool(dot) and table in KEYS


def model_changes(point: Mapping[str, Value]) -> Iterator[str]:
    """Yield the changes of the training file."""
    yield from (f"{key}={in_toml(value)}" for key, value in point.items() if is_of_model(key))


def fabric_changes(point: Mapping[str, Value]) -> Iterator[str]:
    """Yield the changes of the fabric file, those of `collectives` last."""
    for key, value in point.items():
        if "." in key and not is_of_model(key) and value != "":
            yield f"{key}={in_toml(value)}"
    if executors := VARIANTS.get(str(point.get(COLLECTIVES, ""))):
        yield from executors.changes


def in_toml(value: Any) -> str:
    """Return a value as it follows TABLE.KEY=."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def model_digest(model: str) -> str:
    """Return a digest of a training file's tables, not of its comments, and of the generator.

    Presets are part of the simulator's digest.
    """
    tables: Any = model
    if Path(model).is_file():
        tables = parse(read_text(Path(model)), model).values
    text = json.dumps([tables, _generator_digest()], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def _generator_digest() -> str:
    """Return a digest of the core, which executes iterations, and of the writers of programs."""
    digest = hashlib.sha256(Path(str(_core.__file__)).read_bytes())
    folder = files("weft.training")
    for one in sorted(folder.iterdir(), key=lambda one: one.name):
        if one.name.endswith(".py"):
            digest.update(one.read_bytes())
    return digest.hexdigest()
