# SPDX-License-Identifier: LGPL-2.1-only
"""Training iterations as runs of a campaign: plan and digest of each run.

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
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from weft import _core
from weft.base.errors import WeftError
from weft.base.options import parse
from weft.base.user_files import read_text
from weft.campaign.file.axes import Point, Value
from weft.campaign.file.keys import COLLECTIVES
from weft.campaign.file.programs import Program
from weft.iterations.iteration import LIBRARY, Conditions
from weft.runs.jobs.iterations import files_of_trace
from weft.training.accelerator import load_accelerator
from weft.training.file import KEYS, load_model
from weft.training.formats.options import ReadOptions
from weft.training.formats.roofline import roofline_of
from weft.training.formats.trace import TrainingTrace, load_trace
from weft.training.run import parsed_slowdown
from weft.training.variants import VARIANTS, Executors


@dataclass(frozen=True)
class Traced:
    """Trace of training, and the options for reading it."""

    path: str
    replicate: int | None = None
    sizes: Literal["input", "total"] = "input"
    groups: str | None = None
    """JSON file with the ranks of process groups."""
    dimensions: tuple[int, ...] = ()
    gpu: str | None = None
    """GPU that executes computations without recorded time."""

    def load(self) -> TrainingTrace:
        """Read the trace. Raises `WeftError`."""
        options = ReadOptions(
            replicate=self.replicate,
            sizes=self.sizes,
            groups=Path(self.groups) if self.groups else None,
            dimensions=self.dimensions,
            roofline=roofline_of(self.gpu) if self.gpu else None,
        )
        return load_trace(Path(self.path), options)


@dataclass(frozen=True)
class IterationPlan:
    """Training iteration that a run executes: generated from a model, or recorded in a trace."""

    conditions: Conditions
    ranks: int
    model: str = ""
    """Training file, or preset of a model."""
    model_changes: tuple[str, ...] = ()
    gpu: str | None = None
    """GPU for the computation, in place of the training file's GPU."""
    ignore_memory: bool = False
    trace: Traced | None = None

    @property
    def source(self) -> str:
        """Training file, preset or trace."""
        return self.trace.path if self.trace else self.model

    @property
    def decides(self) -> dict[str, Any]:
        """Inputs that determine the result, besides file contents and changes to the fabric."""
        its = self.conditions
        return {
            "model changes": self.model_changes,
            "gpu": self.gpu,
            "ignore memory": self.ignore_memory,
            "trace": asdict(replace(self.trace, path="", groups=None)) if self.trace else None,
            "library": its.library,
            "slowdown": sorted(its.slowdown.items()),
            "noise": [its.noise, its.seed],
            "execute all": its.execute_all,
            "detail": its.detail,
            "multicast": its.multicast,
        }


Files = Mapping[str, Path]
"""Fault file and background traffic file, by key."""


def plan(point: Point, model: str, fabric: str, files: Files) -> IterationPlan:
    """Return the training iteration of a combination.

    Raises `WeftError` if the combination's values do not fit the model, or if no GPU is named.
    """
    changes = tuple(model_changes(point))
    file = load_model(model, changes)
    gpu = str(point["gpu"]) if "gpu" in point else None
    if not (gpu or file.method.gpu):
        raise WeftError(
            f"{file.source}: [train] gpu is missing: the preset of the GPU that computes; give it"
            " there, or write gpu in [[runs]]"
        )
    load_accelerator(gpu or file.method.gpu)
    return IterationPlan(
        model=model,
        model_changes=changes,
        conditions=_conditions(point, fabric, files, "step"),
        ranks=file.parallel.ranks,
        gpu=gpu,
        ignore_memory=bool(point.get("ignore_memory", False)),
    )


def traced(point: Point, program: Program, path: Path) -> Traced:
    """Return the trace of a combination."""
    reading = program.reading
    groups = reading.get("process_groups")
    return Traced(
        str(path),
        replicate=int(point["replicate"]) if "replicate" in point else None,
        sizes=reading.get("allgather_size", "input"),
        groups=str(path.parent / groups) if groups else None,
        dimensions=tuple(reading.get("logical_dimensions", ())),
        gpu=str(point["gpu"]) if "gpu" in point else None,
    )


def replay_plan(
    point: Point, trace: Traced, read: TrainingTrace, fabric: str, files: Files
) -> IterationPlan:
    """Return the training iteration of a combination, as recorded in a trace."""
    return IterationPlan(
        conditions=_conditions(point, fabric, files, read.detail),
        ranks=len(read.workload.program_of),
        trace=trace,
    )


def _conditions(point: Point, fabric: str, files: Files, detail: str) -> Conditions:
    executors = _executors(point)
    return Conditions(
        fabric=fabric,
        changes=tuple(fabric_changes(point)),
        faults=files.get("faults"),
        traffic=files.get("traffic"),
        library=str(point.get("fallback", LIBRARY)),
        slowdown=parsed_slowdown(slowdowns(point), "slowdown"),
        noise=float(point.get("noise", 0.0)),
        seed=int(point.get("noise_seed", 0)),
        execute_all=bool(point.get("execute_all", False)),
        detail=str(point.get("detail", detail)),
        multicast=executors is not None and executors.multicast,
    )


def slowdowns(point: Mapping[str, Value]) -> list[str]:
    """Return the computation factors RANK=FACTOR; empty for an empty text."""
    return [one for one in str(point.get("slowdown", "")).split(",") if one]


def is_of_model(key: str) -> bool:
    """Return true for a key of the training file."""
    table, dot, _ = key.partition(".")
    return bool(dot) and table in KEYS


def model_changes(point: Mapping[str, Value]) -> Iterator[str]:
    """Yield the changes to the training file."""
    yield from (f"{key}={in_toml(value)}" for key, value in point.items() if is_of_model(key))


def fabric_changes(point: Mapping[str, Value]) -> Iterator[str]:
    """Yield the changes to the fabric file, ending with the changes that `collectives` implies."""
    for key, value in point.items():
        if "." in key and not is_of_model(key) and value != "":
            yield f"{key}={in_toml(value)}"
    if executors := _executors(point):
        yield from executors.changes


def _executors(point: Mapping[str, Value]) -> Executors | None:
    return VARIANTS.get(str(point.get(COLLECTIVES, "")))


def in_toml(value: Any) -> str:
    """Format a value for TABLE.KEY=VALUE."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def model_digest(model: str) -> str:
    """Return a digest of the generator and of a training file's tables, without comments.

    Presets are part of the simulator's digest.
    """
    tables: Any = model
    if Path(model).is_file():
        tables = parse(read_text(Path(model)), model).values
    text = json.dumps([tables, generator_digest()], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def trace_digest(trace: Traced) -> str:
    """Return a digest of a trace's files and of the trace readers."""
    path = Path(trace.path)
    found = files_of_trace(path)
    if trace.groups:
        found = (*found, Path(trace.groups))
    digest = hashlib.sha256(generator_digest().encode())
    for one in found:
        digest.update(f"{one.name}\0".encode())
        digest.update(contents_digest(one).encode())
    return digest.hexdigest()


def contents_digest(file: Path) -> str:
    """Return a digest of a file. Raises `WeftError` if it cannot be read."""
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as error:
        raise WeftError(f"{file} cannot be read: {error.strerror}") from None


@cache
def generator_digest() -> str:
    """Return a digest of the core, which executes iterations, and of the program generators."""
    digest = hashlib.sha256(Path(str(_core.__file__)).read_bytes())
    for folder in (files("weft.training"), files("weft.training.formats")):
        for one in sorted(folder.iterdir(), key=lambda one: one.name):
            if one.name.endswith(".py"):
                digest.update(one.read_bytes())
    return digest.hexdigest()
