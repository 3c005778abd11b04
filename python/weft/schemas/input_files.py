# SPDX-License-Identifier: LGPL-2.1-only
"""JSON schemas of files that users write: fabrics, campaigns, jobs, faults, traffic, training.

The schema of fabric files comes from the core's tables of keys. All other schemas combine the keys
and meanings of the files' readers with the types below. A schema accepts each file that weft
accepts; it does not know the contents of a fabric, nor which keys exclude each other.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from weft import _core
from weft.base.options import Key, Kind
from weft.base.units import UNITS
from weft.campaign.file import keys as campaign
from weft.runs.faults import file as faults
from weft.runs.jobs import file as jobs
from weft.runs.traffic import file as traffic
from weft.training import accelerator, parallelism
from weft.training import file as training

if TYPE_CHECKING:
    from weft._core import Option

Schema = dict[str, Any]

_DRAFT = "http://json-schema.org/draft-07/schema#"
_ARRAY = re.compile(r"\[\[([\w.]+)\]\]")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_QUOTED = re.compile(r'"([^"]+)"')
_SIZE_UNITS = "|".join(sorted((unit for unit in UNITS if unit), key=len, reverse=True))


def _quantity(kind: str) -> Schema:
    units = "|".join(name for name, _ in _core.units()[kind])
    return {"type": "string", "pattern": rf"^[-+]?[0-9.]+([eE][-+]?[0-9]+)? *({units})$"}


_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_TRUTH: Schema = {"type": "boolean"}
_WHOLE: Schema = {"type": "integer", "minimum": 0}
_COUNT: Schema = {"type": "integer", "minimum": 1}
_NUMBER: Schema = {"type": "number", "minimum": 0}
_WEIGHT: Schema = {"type": "number", "minimum": 0.001, "maximum": 1000}
_PERCENT: Schema = {"type": "string", "pattern": r"^[0-9]{1,3}(\.[0-9]{1,12})? ?%$"}
_TIME: Schema = {"anyOf": [_quantity("duration"), {"const": 0}]}
_BYTES: Schema = {"type": "string", "pattern": rf"^[0-9]+(\.[0-9]+)? *({_SIZE_UNITS})$"}


def _one_of(words: Sequence[str]) -> Schema:
    return {"type": "string", "enum": list(words)}


def _file(title: str, properties: Mapping[str, Schema], required: Sequence[str]) -> Schema:
    return {"$schema": _DRAFT, "title": title, **_table(properties, required)}


def _table(properties: Mapping[str, Schema], required: Sequence[str] = ()) -> Schema:
    return {
        "type": "object",
        "properties": dict(properties),
        "additionalProperties": False,
        **({"required": list(required)} if required else {}),
    }


def _array(table: Schema, about: str = "") -> Schema:
    return {
        "type": "array",
        "items": table,
        **({"description": about} if about else {}),
    }


def _described(
    meanings: Mapping[str, str], types: Mapping[str, Schema], required: Sequence[str] = ()
) -> Schema:
    """Return the schema of a table, with a type for each key that the reader knows."""
    return _table(
        {key: {**types[key], "description": _plain(text)} for key, text in meanings.items()},
        required,
    )


_KINDS: Mapping[str, Schema] = {
    "text": _TEXT,
    "texts": _TEXTS,
    "text or texts": {"anyOf": [_TEXT, _TEXTS]},
    "table of texts": {"type": "object", "additionalProperties": _TEXT},
    "truth": _TRUTH,
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "percentage": _PERCENT,
    "time": _TIME,
    "size": _BYTES,
}
"""Schemas by kind of key, without bounds and allowed words."""


def _declared(keys: Mapping[str, Key], required: Sequence[str] = ()) -> Schema:
    """Return the schema of a table whose reader declares its keys."""
    types = {name: _of_kind(key.kind) for name, key in keys.items()}
    return _described({name: key.meaning for name, key in keys.items()}, types, required)


def _of_kind(kind: Kind) -> Schema:
    bounds = {"minimum": kind.least, "maximum": kind.most}
    return {
        **_KINDS[kind.name],
        **{name: bound for name, bound in bounds.items() if bound is not None},
        **({"enum": list(kind.words)} if kind.words else {}),
    }


def _plain(text: str) -> str:
    """Return a meaning without Markdown."""
    return _LINK.sub(r"\1", text).replace("`", "")


# ---- Faults, traffic, jobs


def _faults() -> Schema:
    tables = {
        "recovery": _declared(faults.RECOVERY),
        "fault": _array(_declared(faults.FAULT)),
    }
    return _file("Fault file of weft", tables, ())


def _traffic() -> Schema:
    table = _declared(traffic.TRAFFIC, ["pattern"])
    return _file("Traffic file of weft", {"traffic": _array(table)}, ["traffic"])


def _jobs() -> Schema:
    top = _declared(jobs.TOP)["properties"]
    job = _declared(jobs.JOB, ["name"])
    return _file("Jobs file of weft", {**top, "jobs": _array(job)}, ["jobs"])


# ---- Training


MODEL_TYPES: Mapping[str, Schema] = {
    **dict.fromkeys(training.MODEL, _COUNT),
    **dict.fromkeys(
        ("positions", "window", "query_rank", "kv_rank", "rope_size", "experts"), _WHOLE
    ),
    **dict.fromkeys(("shared_experts", "dense_layers"), _WHOLE),
    **dict.fromkeys(("gated", "tied", "biases", "query_key_norm"), _TRUTH),
    "norm": _one_of(["rms", "layer"]),
}
PARALLEL_TYPES: Mapping[str, Schema] = {
    **dict.fromkeys(training.PARALLEL, _COUNT),
    "layers_per_stage": {"type": "array", "items": _WHOLE},
    "sequence": _TRUTH,
    "context_exchange": _one_of(["allgather", "ring"]),
    "sharding": _one_of(list(parallelism.SHARDINGS)),
    "schedule": _one_of(list(parallelism.SCHEDULES)),
}
BATCH_TYPES: Mapping[str, Schema] = dict.fromkeys(training.BATCH, _COUNT)
TRAIN_TYPES: Mapping[str, Schema] = {
    "gpu": _TEXT,
    "precision": _one_of(list(accelerator.PRECISIONS)),
    "gradients": _one_of(["fp32", "bf16"]),
    "optimizer": _one_of(list(training.OPTIMIZERS)),
    "recomputation": _one_of(list(training.RECOMPUTATIONS)),
    "overlap": _TRUTH,
    "slowdown": {"type": "number", "minimum": 0.01, "maximum": 100},
    "copies": {"type": "number", "minimum": 0.01},
    "bucket": _BYTES,
}
LIKE_TYPES: Mapping[str, Schema] = {"like": _TEXT, "description": _TEXT}


def _training() -> Schema:
    tables = {
        **_described(training.TOP, LIKE_TYPES)["properties"],
        "model": _described(training.MODEL, MODEL_TYPES),
        "parallel": _described(training.PARALLEL, PARALLEL_TYPES),
        "batch": _described(training.BATCH, BATCH_TYPES, ["sequence", "global"]),
        "train": _described(training.TRAIN, TRAIN_TYPES),
    }
    return _file("Training file of weft", tables, ["batch"])


# ---- Campaigns


CAMPAIGN_TYPES: Mapping[str, Schema] = {
    **dict.fromkeys(("name", "description", "memory"), _TEXT),
    "timeout": _quantity("duration"),
    "most_runs": _COUNT,
    **dict.fromkeys(("best", "intervals"), _TRUTH),
}
PROGRAM_TYPES: Mapping[str, Schema] = {
    **dict.fromkeys(("source", "path", "build", "jobs", "model", "trace"), _TEXT),
    "allgather_size": {"enum": ["input", "total"]},
    "process_groups": _TEXT,
    "logical_dimensions": {"type": "array", "items": _COUNT, "minItems": 1},
    **dict.fromkeys(("flags", "arguments", "inputs"), _TEXTS),
    "privatize": _TRUTH,
}
RULE_TYPES: Mapping[str, Schema] = {
    "repetitions": _COUNT,
    "zip": {"type": "array", "items": _TEXTS},
    "leave_out": {"type": "array", "items": {"type": "object"}},
}


def _campaign() -> Schema:
    value: Schema = {"type": ["string", "number", "boolean"]}
    spread = _table(
        {key: {"type": ["string", "number"]} for key in ("from", "to", "times", "plus")},
        ["from", "to"],
    )
    one: Schema = {"anyOf": [value, spread]}
    values: Schema = {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]}
    runs = {key: {**values, "description": _plain(text)} for key, text in campaign.RUNS.items()}
    rules = _described(campaign.RULES, RULE_TYPES)["properties"]
    # Any other key is a placeholder, or a table with keys of the fabric.
    table = {
        "type": "object",
        "properties": {**runs, **rules},
        "additionalProperties": {"anyOf": [values, {"type": "object"}]},
        "required": ["program", "fabric"],
    }
    program = _described(campaign.PROGRAM, PROGRAM_TYPES)
    return _file(
        "Campaign file of weft",
        {
            "campaign": _described(campaign.CAMPAIGN, CAMPAIGN_TYPES, ["name"]),
            "programs": {"type": "object", "additionalProperties": program},
            "runs": _array(table),
            "report": _table({"baseline": {"type": "object"}}, ["baseline"]),
        },
        ["campaign", "programs", "runs"],
    )


# ---- Fabrics


_PRESETS: Mapping[str, str] = {
    "switches": "switch",
    "progress_engines": "progress_engine",
    "mpi": "messages",
}
"""Preset kinds of tables with another name."""


def _fabric() -> Schema:
    tables = {table["table"]: table for table in _core.fabric_schema()}
    arrays = {name for table in tables.values() for name in _ARRAY.findall(table["meaning"])}
    top: dict[str, Schema] = {}
    for name, table in tables.items():
        if name.partition(".")[0] in ("topology", "calibration"):
            continue
        place = _place_of(name, top)
        own = place.setdefault(name.rpartition(".")[2], {})
        schema = _table_of_options(name, table["options"])
        schema["description"] = table["meaning"]
        own.update(_array(schema, table["meaning"]) if name in arrays else schema)
    top["topology"] = _topologies()
    # Its intervals may be of any key of the file.
    top["calibration"] = {"type": "object", "description": tables["calibration"]["meaning"]}
    return _file("Fabric file of weft", top, ["fabric", "topology"])


def _place_of(name: str, top: dict[str, Schema]) -> dict[str, Schema]:
    """Return the properties of the enclosing table."""
    properties = top
    for part in name.split(".")[:-1]:
        outer = properties[part]
        properties = outer.get("items", outer)["properties"]
    return properties


def _table_of_options(name: str, options: "Sequence[Option]") -> Schema:
    properties = {}
    for option in options:
        properties[option["key"]] = _option(option)
        if option["key"] == "preset":
            known = _core.list_presets(_PRESETS.get(name, name))
            properties["preset"] |= {"enum": known} if known else {}
    # A preset may provide the required keys of a table.
    needed = [one["key"] for one in options if one["required"]]
    return _table(properties, [] if "preset" in properties else needed)


def _topologies() -> Schema:
    return {
        "type": "object",
        "required": ["kind"],
        "properties": {
            "kind": {**_one_of([row["kind"] for row in _core.topologies()]), "type": "string"}
        },
        "oneOf": [_topology(row["kind"], row["options"]) for row in _core.topologies()],
    }


def _topology(kind: str, options: "Sequence[Option]") -> Schema:
    own = [one for one in options if "." not in one["key"]]
    properties = {one["key"]: _option(one) for one in own}
    for one in own:
        if one["type"] == "tables":
            start = f"{one['key']}."
            inner: list[Option] = [
                {**row, "key": row["key"].removeprefix(start)}
                for row in options
                if row["key"].startswith(start)
            ]
            properties[one["key"]] = _array(_table_of_options("", inner), one["meaning"])
    needed = ["kind", *(one["key"] for one in own if one["required"])]
    return _table({"kind": {"const": kind}, **properties}, needed)


def _option(option: "Option") -> Schema:
    """Return the schema of a key of a fabric file."""
    found: Schema
    match option["type"]:
        case "integer" | "number" as name:
            found = {"type": name, **_bounds(option["allowed"])}
        case "integers":
            found = {"type": "array", "items": {"type": "integer", **_bounds(option["allowed"])}}
        case "texts":
            found = dict(_TEXTS)
        case "text":
            words = option["names"] or _words(option["allowed"])
            found = _one_of(words) if words else dict(_TEXT)
        case "tables":
            found = {"type": "array", "items": {"type": "object"}}
        case kind:
            found = _quantity(kind)
    said = option["meaning"]
    if option["otherwise"]:
        said += f" (default: {option['otherwise']})"
    return {**found, "description": said}


def _words(allowed: str) -> list[str]:
    """Return the allowed words of a text, if only these are allowed."""
    words = _QUOTED.findall(allowed)
    return words if ", ".join(f'"{one}"' for one in words) == allowed else []


def _bounds(allowed: str) -> Schema:
    return {
        "more than zero": {"exclusiveMinimum": 0},
        "zero or more": {"minimum": 0},
        "0 to 1": {"minimum": 0, "maximum": 1},
    }.get(allowed, {})


SCHEMAS: Mapping[str, Callable[[], Schema]] = {
    "fabric": _fabric,
    "campaign": _campaign,
    "jobs": _jobs,
    "faults": _faults,
    "traffic": _traffic,
    "training": _training,
}
"""Schemas by kind of file."""


def schema_of(name: str) -> Schema:
    """Return the schema of a kind of file in `SCHEMAS`."""
    return SCHEMAS[name]()
