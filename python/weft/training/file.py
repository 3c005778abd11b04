# SPDX-License-Identifier: LGPL-2.1-only
"""Training files: model, parallel layout, and batch of an iteration.

    like = "llama-3-70b"

    [parallel]
    tensor = 8
    pipeline = 16
    data = 128
    sharding = "zero-1"

    [batch]
    sequence = 8192
    micro = 1
    global = 2048

`like` names a preset; the file's own [model] extends or overrides the preset's [model]. docs/
training-models.md describes the keys, from the tables below.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from weft import _core
from weft.base import paths
from weft.base.errors import WeftError, named, suggestion
from weft.base.options import Options, parse, value_of
from weft.base.user_files import UnreadableError, read_text
from weft.training.accelerator import PRECISIONS
from weft.training.model import Model
from weft.training.parallelism import SCHEDULES, SHARDINGS, Parallelism

TOP: Mapping[str, str] = {
    "like": "Preset of a model, whose keys [model] completes or changes",
    "description": "A sentence about the file; nothing depends on it",
}
"""Keys of the file itself."""

MODEL: Mapping[str, str] = {
    "layers": "Transformer layers; required",
    "hidden": "Width of the layers' input and output; required",
    "feed_forward": "Width of the feed-forward part of layers without experts; required if there"
    " are any",
    "heads": "Attention heads; required",
    "kv_heads": "Heads of keys and values; as many as `heads` by default",
    "head_size": "Width of a head's queries and keys; `hidden` / `heads` by default",
    "value_size": "Width of a head's values; `head_size` by default",
    "vocabulary": "Tokens of the vocabulary; required",
    "gated": "`true`: the feed-forward part has a gate, thus three matrices (SwiGLU); by default",
    "tied": "`true`: embedding and output share their matrix; `false` by default",
    "biases": "`true`: matrices have biases; `false` by default",
    "norm": "`rms` (by default) or `layer`, which has a bias",
    "positions": "Learned positions; 0 by default",
    "query_key_norm": "`true`: queries and keys are normalised; `false` by default",
    "window": "Tokens that a sliding window of attention spans; 0, no window, by default",
    "window_period": "Of so many layers the last has no window; 1, all have it, by default",
    "query_rank": "Latent attention: rank of the compressed queries; 0, not compressed, by default",
    "kv_rank": "Latent attention: rank of the compressed keys and values; 0 by default, attention"
    " is not latent",
    "rope_size": "Latent attention: part of `head_size` that carries positions",
    "experts": "Experts of a layer; 0 by default",
    "experts_per_token": "Experts that a token is sent to",
    "expert_feed_forward": "Width of an expert's feed-forward part",
    "shared_experts": "Experts that all tokens pass; 0 by default",
    "dense_layers": "First layers, which have no experts; 0 by default",
}
"""Keys of [model]."""

PARALLEL: Mapping[str, str] = {
    "tensor": "Tensor parallel ranks; 1 by default",
    "context": "Context parallel ranks, which divide each sequence; 1 by default",
    "pipeline": "Pipeline stages; 1 by default",
    "virtual_stages": "Chunks of layers of each stage, for `interleaved`; 1 by default",
    "layers_per_stage": "List of the layers of each chunk, in the model's order, `pipeline` x"
    " `virtual_stages` of them; equally many by default",
    "data": "Data parallel ranks; 1 by default",
    "expert": "Expert parallel ranks, among the data and context parallel ones; 1 by default",
    "sequence": "Sequence parallelism among tensor parallel ranks; `true` by default",
    "context_exchange": "`allgather` (by default): keys and values are gathered before attention;"
    " `ring`: passed on from rank to rank during it",
    "sharding": "What data parallel ranks divide. "
    + "; ".join(f"`{name}`: {what}" for name, what in SHARDINGS.items())
    + "; `ddp` by default",
    "shard_group": "Ranks that share the parameters, for `hybrid`",
    "schedule": "Order of passes. "
    + "; ".join(f"`{name}`: {what}" for name, what in SCHEDULES.items())
    + "; by default `1f1b`, or `interleaved` with virtual stages",
}
"""Keys of [parallel]."""

BATCH: Mapping[str, str] = {
    "sequence": "Tokens of a sequence; required",
    "micro": "Sequences of a microbatch; 1 by default",
    "global": "Sequences of an iteration; required",
}
"""Keys of [batch]."""

RECOMPUTATIONS: Mapping[str, str] = {
    "none": "all activations are kept",
    "selective": "attention's are computed again",
    "full": "only the input of each layer is kept",
}
"""Activations that the backward pass recomputes."""


@dataclass(frozen=True)
class Optimizer:
    """State of an optimizer."""

    meaning: str
    state_bytes: int
    """Bytes of state per parameter."""
    step_bytes: int
    """Bytes per parameter that a step reads or writes."""


# A step reads gradient, parameter and moments, and writes all of them except the gradient; with an
# FP32 copy, it also writes the BF16 parameter.
OPTIMIZERS: Mapping[str, Optimizer] = {
    "mixed": Optimizer("a copy of the parameters and both moments in FP32", 12, 4 * 4 + 3 * 4 + 2),
    "bf16": Optimizer("both moments in BF16, no copy", 4, 4 * 2 + 3 * 2),
}
"""Optimizers."""

TRAIN: Mapping[str, str] = {
    "gpu": "Preset of the GPU (presets/accelerator)",
    "precision": "Precision of matrix products: "
    + "; ".join(f"`{name}`, {what}" for name, what in PRECISIONS.items())
    + "; `bf16` by default",
    "gradients": "Precision in which gradients are summed, `fp32` (by default) or `bf16`",
    "optimizer": "State of Adam. "
    + "; ".join(f"`{name}`: {one.meaning}" for name, one in OPTIMIZERS.items())
    + "; `mixed` by default",
    "recomputation": "Activations that the backward pass computes again. "
    + "; ".join(f"`{name}`: {what}" for name, what in RECOMPUTATIONS.items())
    + "; `none` by default",
    "overlap": "`true` (by default): data parallel collectives run during computation; `false`:"
    " computation waits for them",
    "slowdown": "Factor on the times of all computation, to fit a measured iteration on one node; 1"
    " by default",
    "copies": "Copies of a token that are sent to experts; `experts_per_token`, one for each, by"
    " default. Fewer if a token is sent once to several experts of a rank",
    "bucket": "Gradients are summed once so many bytes are ready; a layer at a time by default",
}
"""Keys of [train]."""

_MOST_LAYERS, _MOST_WIDTH, _MOST_RANKS = 10_000, 1 << 24, 1 << 20
_GRADIENT_BYTES: Mapping[str, int] = {"fp32": 4, "bf16": 2}


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Sequences of an iteration."""

    sequence: int
    """Tokens per sequence."""
    micro: int
    """Sequences per microbatch."""
    sequences: int
    """Sequences over all data parallel ranks."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """Precision, recomputation and overlap of an iteration."""

    gpu: str = ""
    """Name of a preset; empty if the file does not name one."""
    precision: str = "bf16"
    gradient_bytes: int = 4
    optimizer: Optimizer = OPTIMIZERS["mixed"]
    recomputation: str = "none"
    overlap: bool = True
    slowdown: float = 1.0
    """Factor on the times of all computation."""
    copies: float = 0.0
    """Copies of each token sent to experts."""
    bucket: int = 0
    """Bytes of gradients summed at once; 0: a layer's gradients."""


@dataclass(frozen=True, kw_only=True)
class TrainingFile:
    """Parsed training file with consistent keys."""

    source: str
    """Name for error messages."""
    name: str
    """Name of the model."""
    model: Model
    parallel: Parallelism
    batch: Batch
    method: Method
    chunks: tuple[tuple[int, ...], ...]
    """Layers of each chunk, in the model's order."""

    @property
    def microbatches(self) -> int:
        """Microbatches per data parallel rank."""
        return self.batch.sequences // (self.batch.micro * self.parallel.data)

    def chunks_of(self, stage: int) -> tuple[tuple[int, ...], ...]:
        """Return the layers of each chunk of a stage."""
        return self.chunks[stage :: self.parallel.pipeline]


def models() -> list[str]:
    """Return the names of the model presets."""
    return _core.list_presets("model")


def load_model(name: str | Path, changes: Sequence[str] = ()) -> TrainingFile:
    """Read a training file, or the preset of a model for one GPU. Raises `WeftError`.

    Each of `changes` is TABLE.KEY=VALUE, as for fabric files.
    """
    path = Path(name)
    if not path.exists() and str(name) in models():
        tables = {"like": str(name), "batch": dict(_ONE)}
        return of_tables(_changed(Options(str(name), "", tables), changes), str(name))
    if not path.exists() and path.suffix != ".toml":
        allowed = suggestion(str(name), models())
        raise WeftError(f"{named('model')}: found '{name}', which is no file; {allowed}")
    try:
        return of_tables(_changed(parse(read_text(path), str(path)), changes), path.stem)
    except UnreadableError as error:
        raise WeftError(f"{path}: {error}") from None


_ONE = {"sequence": 4096, "global": 1}


def _changed(top: Options, changes: Sequence[str]) -> Options:
    """Return the file with keys overridden from outside, by TOML values or texts."""
    tables = {**top.values}
    for change in changes:
        place, sign, text = change.partition("=")
        table, dot, key = place.strip().partition(".")
        if not sign or not dot or table not in KEYS:
            raise WeftError(
                f"{named('model_changes')}: found '{change}'; write TABLE.KEY=VALUE with one of the"
                f" tables {', '.join(KEYS)}"
            )
        tables[table] = {**dict(tables.get(table, {})), key: value_of(text.strip())}
    return Options(top.source, top.table, tables)


KEYS: Mapping[str, Mapping[str, str]] = {
    "model": MODEL,
    "parallel": PARALLEL,
    "batch": BATCH,
    "train": TRAIN,
}
"""Tables whose keys can be overridden from outside."""


def of_tables(top: Options, name: str) -> TrainingFile:
    """Return the training described by parsed tables."""
    top.allow("model", "parallel", "batch", "train", *TOP)
    like = _preset(top) if "like" in top.values else None
    model = _model(_merged(top, like))
    parallel = _parallel(_table(top, "parallel"), model)
    chunks = _chunks(_table(top, "parallel"), model, parallel)
    batch = _batch(top.part("batch"), parallel)
    _check_interleaving(_table(top, "batch"), batch, parallel)
    return TrainingFile(
        source=top.source,
        name=str(top.values.get("like", name)),
        model=model,
        parallel=parallel,
        batch=batch,
        method=_method(_table(top, "train"), model),
        chunks=chunks,
    )


def _table(top: Options, key: str) -> Options:
    return top.part(key) if key in top.values else Options(top.source, key, {})


def _preset(top: Options) -> Options:
    name = top.text("like")
    if name not in models():
        top.fail("like", f"found '{name}'; {suggestion(name, models())}")
    path = paths.installed("presets", "model", f"{name}.toml")
    return parse(read_text(path), str(path)).allow("model", "description").part("model")


def _merged(top: Options, like: Options | None) -> Options:
    if like is None:
        return top.part("model")
    return Options(top.source, "model", {**like.values, **_table(top, "model").values})


# ---- [model]


def _model(table: Options) -> Model:
    table.allow(*MODEL)
    layers, heads = table.integer("layers", 1, _MOST_LAYERS), table.integer("heads", 1, _MOST_WIDTH)
    hidden = table.integer("hidden", 1, _MOST_WIDTH)
    head_size = _head_size(table, hidden, heads)
    experts = table.integer("experts", 0, 1 << 16, 0)
    dense = table.integer("dense_layers", 0, layers, 0) if experts else layers
    model = Model(
        layers=layers,
        hidden=hidden,
        feed_forward=table.integer("feed_forward", 1, _MOST_WIDTH, None if dense else 1),
        heads=heads,
        kv_heads=table.integer("kv_heads", 1, heads, heads),
        head_size=head_size,
        value_size=table.integer("value_size", 1, _MOST_WIDTH, head_size),
        vocabulary=table.integer("vocabulary", 1, _MOST_WIDTH),
        gated=table.truth("gated", default=True),
        tied=table.truth("tied", default=False),
        biases=table.truth("biases", default=False),
        norm_vectors=("rms", "layer").index(table.choice("norm", ("rms", "layer"), "rms")) + 1,
        positions=table.integer("positions", 0, _MOST_WIDTH, 0),
        query_key_norm=table.truth("query_key_norm", default=False),
        window=table.integer("window", 0, _MOST_WIDTH, 0),
        window_period=table.integer("window_period", 1, layers, 1),
        query_rank=table.integer("query_rank", 0, _MOST_WIDTH, 0),
        kv_rank=table.integer("kv_rank", 0, _MOST_WIDTH, 0),
        rope_size=table.integer("rope_size", 0, head_size, 0),
        experts=experts,
        experts_per_token=table.integer("experts_per_token", 1, experts) if experts else 0,
        expert_feed_forward=table.integer("expert_feed_forward", 1, _MOST_WIDTH) if experts else 0,
        shared_experts=table.integer("shared_experts", 0, 1 << 16, 0),
        dense_layers=dense if experts else 0,
    )
    _check_model(table, model)
    return model


def _head_size(table: Options, hidden: int, heads: int) -> int:
    if "head_size" not in table.values and hidden % heads:
        table.fail("heads", f"found {heads}, not a divisor of hidden = {hidden}; give head_size")
    return table.integer("head_size", 1, _MOST_WIDTH, hidden // heads)


def _check_model(table: Options, model: Model) -> None:
    if model.heads % model.kv_heads:
        table.fail("kv_heads", f"found {model.kv_heads}, not a divisor of heads = {model.heads}")
    for key in ("experts_per_token", "expert_feed_forward", "shared_experts", "dense_layers"):
        if key in table.values and not model.experts:
            table.fail(key, "found without experts; give their number as experts")
    for key in ("query_rank", "rope_size"):
        if table.values.get(key) and not model.kv_rank:
            table.fail(key, "found without kv_rank, which latent attention needs")
    if model.kv_rank and model.kv_heads != model.heads:
        table.fail("kv_heads", "found with kv_rank: latent attention has keys for each head")


# ---- [parallel]


def _parallel(table: Options, model: Model) -> Parallelism:
    table.allow(*PARALLEL)
    virtual = table.integer("virtual_stages", 1, _MOST_LAYERS, 1)
    parallel = Parallelism(
        tensor=table.integer("tensor", 1, _MOST_RANKS, 1),
        context=table.integer("context", 1, _MOST_RANKS, 1),
        pipeline=table.integer("pipeline", 1, _MOST_RANKS, 1),
        virtual_stages=virtual,
        data=table.integer("data", 1, _MOST_RANKS, 1),
        expert=table.integer("expert", 1, _MOST_RANKS, 1),
        sequence_parallel=table.truth("sequence", default=True),
        context_exchange=table.choice("context_exchange", ("allgather", "ring"), "allgather"),
        sharding=table.choice("sharding", tuple(SHARDINGS), "ddp"),
        shard_group=_shard_group(table),
        schedule=table.choice(
            "schedule", tuple(SCHEDULES), "interleaved" if virtual > 1 else "1f1b"
        ),
    )
    if parallel.ranks > _MOST_RANKS:
        table.fail(
            "data",
            f"tensor x context x pipeline x data are {parallel.ranks:,} ranks; allowed are at most"
            f" {_MOST_RANKS:,}",
        )
    _check_tensor(table, model, parallel)
    _check_schedule(table, parallel)
    _check_data(table, model, parallel)
    return parallel


def _shard_group(table: Options) -> int:
    if table.values.get("sharding") == "hybrid":
        return table.integer("shard_group", 1, _MOST_RANKS)
    if "shard_group" in table.values:
        table.fail("shard_group", 'found without sharding = "hybrid", which it belongs to')
    return 0


def _check_tensor(table: Options, model: Model, parallel: Parallelism) -> None:
    widths = {"heads": model.heads, "feed_forward": model.feed_forward}
    if model.experts:
        widths["expert_feed_forward"] = model.expert_feed_forward
        if not model.dense_layers:
            del widths["feed_forward"]
    for name, width in widths.items():
        if width % parallel.tensor:
            table.fail("tensor", f"found {parallel.tensor}, which does not divide {name} = {width}")
    few, many = sorted((model.kv_heads, parallel.tensor))
    if many % few:
        table.fail(
            "tensor",
            f"found {parallel.tensor}, which neither divides kv_heads = {model.kv_heads} nor is a"
            " multiple of it",
        )
    if parallel.expert > 1 and parallel.tensor > 1 and not parallel.sequence_parallel:
        table.fail("sequence", "found false; experts with tensor parallelism need true")


def _check_schedule(table: Options, parallel: Parallelism) -> None:
    if parallel.schedule != "1f1b" and parallel.pipeline == 1:
        table.fail("schedule", f"found '{parallel.schedule}' with one stage; give pipeline above 1")
    if (parallel.schedule == "interleaved") != (parallel.virtual_stages > 1):
        table.fail(
            "virtual_stages",
            f'found {parallel.virtual_stages} with schedule = "{parallel.schedule}"; give several'
            ' with "interleaved" only',
        )


def _check_data(table: Options, model: Model, parallel: Parallelism) -> None:
    if parallel.expert > 1 and not model.experts:
        table.fail("expert", f"found {parallel.expert}, but the model has no experts")
    for name, total, key, part in (
        ("experts", model.experts, "expert", parallel.expert),
        ("data x context ranks", parallel.replicas, "expert", parallel.expert),
        ("data x context ranks", parallel.replicas, "shard_group", parallel.shard_group or 1),
    ):
        if total % part:
            table.fail(key, f"found {part}, which does not divide {total} {name}")


def _chunks(table: Options, model: Model, parallel: Parallelism) -> tuple[tuple[int, ...], ...]:
    count = parallel.pipeline * parallel.virtual_stages
    if "layers_per_stage" in table.values:
        sizes = _sizes(table, count, model.layers)
    elif model.layers % count:
        table.fail(
            "pipeline",
            f"{count} stages do not divide {model.layers} layers; give layers_per_stage, a list of"
            " the layers of each",
        )
    else:
        sizes = [model.layers // count] * count
    begins = [sum(sizes[:one]) for one in range(count)]
    return tuple(
        tuple(range(begin, begin + size)) for begin, size in zip(begins, sizes, strict=True)
    )


def _sizes(table: Options, count: int, layers: int) -> list[int]:
    sizes = table.values["layers_per_stage"]
    if not isinstance(sizes, list) or not all(type(one) is int and one >= 0 for one in sizes):
        table.fail("layers_per_stage", f"found {sizes!r}; write a list of numbers of layers")
    if len(sizes) != count or sum(sizes) != layers:
        table.fail(
            "layers_per_stage",
            f"found {len(sizes)} stages of {sum(sizes)} layers together; needed are {count} stages"
            f" of {layers} layers",
        )
    return sizes


# ---- [batch] and [train]


def _batch(table: Options, parallel: Parallelism) -> Batch:
    table.allow(*BATCH)
    batch = Batch(
        sequence=table.integer("sequence", 1, _MOST_WIDTH),
        micro=table.integer("micro", 1, 1 << 20, 1),
        sequences=table.integer("global", 1, 1 << 30),
    )
    once = batch.micro * parallel.data
    if batch.sequences % once:
        table.fail(
            "global",
            f"found {batch.sequences}, but micro x data = {batch.micro} x {parallel.data} sequences"
            f" are computed at once; give a multiple of {once}",
        )
    # With a causal mask, context parallel ranks take two parts each, and sequence parallel ranks
    # one.
    parts = (2 * parallel.context if parallel.context > 1 else 1) * parallel.tensor
    if batch.sequence % parts:
        table.fail(
            "sequence",
            f"found {batch.sequence}; context x tensor = {parallel.context} x {parallel.tensor}"
            f" ranks divide it into {parts} parts: give a multiple of {parts}",
        )
    return batch


def _check_interleaving(table: Options, batch: Batch, parallel: Parallelism) -> None:
    microbatches = batch.sequences // (batch.micro * parallel.data)
    if parallel.virtual_stages > 1 and microbatches % parallel.pipeline:
        table.fail(
            "global",
            f"found {batch.sequences}, which is {microbatches} microbatches a rank; interleaved"
            f" stages need a multiple of pipeline = {parallel.pipeline}",
        )


def _method(table: Options, model: Model) -> Method:
    table.allow(*TRAIN)
    return Method(
        gpu=table.text("gpu") if "gpu" in table.values else "",
        precision=table.choice("precision", tuple(PRECISIONS), "bf16"),
        gradient_bytes=_GRADIENT_BYTES[table.choice("gradients", tuple(_GRADIENT_BYTES), "fp32")],
        optimizer=OPTIMIZERS[table.choice("optimizer", tuple(OPTIMIZERS), "mixed")],
        recomputation=table.choice("recomputation", tuple(RECOMPUTATIONS), "none"),
        overlap=table.truth("overlap", default=True),
        slowdown=table.number("slowdown", 0.01, 100, 1),
        copies=_copies(table, model),
        bucket=table.size("bucket", "1B") if "bucket" in table.values else 0,
    )


def _copies(table: Options, model: Model) -> float:
    if "copies" not in table.values:
        return model.experts_per_token
    if not model.experts:
        table.fail("copies", "found, but the model has no experts")
    return table.number("copies", 0.01, model.experts_per_token, 1)
