# SPDX-License-Identifier: LGPL-2.1-only
"""docs/training-models.md: keys of training files, and presets, as defined in the code."""

from collections.abc import Iterator

from studies.study import DOCS, Study, markdown
from weft.training.accelerator import accelerators, load_accelerator
from weft.training.file import BATCH, MODEL, PARALLEL, TOP, TRAIN, load_model, models


def texts() -> dict[str, str]:
    """Return the text of each generated section."""
    return {
        "table: training file": markdown(("key", ""), list(_keys()), 2),
        "table: models": markdown(
            ("`like`", "parameters, 10^9", "of a token", "layers", "hidden"), list(_models()), 1
        ),
        "table: accelerators": markdown(
            ("`gpu`", "BF16, TFLOP/s", "GB", "TB/s", "`efficiency`", "`half_size`"),
            list(_accelerators()),
        ),
    }


def _keys() -> Iterator[tuple[str, str]]:
    for key, text in TOP.items():
        yield f"`{key}`", text
    tables = {"model": MODEL, "parallel": PARALLEL, "batch": BATCH, "train": TRAIN}
    for table, keys in tables.items():
        for key, text in keys.items():
            yield f"`[{table}]` `{key}`", text


def _models() -> Iterator[tuple[str, ...]]:
    for name in models():
        model = load_model(name).model
        yield (
            f"[`{name}`](../presets/model/{name}.toml)",
            f"{model.parameters / 1e9:.1f}",
            f"{model.active_parameters / 1e9:.1f}",
            f"{model.layers}",
            f"{model.hidden:,}",
        )


def _accelerators() -> Iterator[tuple[str, ...]]:
    for name in accelerators():
        gpu = load_accelerator(name)
        yield (
            f"[`{name}`](../presets/accelerator/{name}.toml)",
            f"{gpu.peak['bf16'] / 1e12:g}",
            f"{gpu.memory / 1e9:g}",
            f"{gpu.bandwidth / 1e12:g}",
            f"{gpu.efficiency:g}",
            f"{gpu.half_size:g}",
        )


STUDY = Study(
    "training",
    "keys of training files and presets, as the program knows them",
    measure=lambda: None,
    page=DOCS / "training-models.md",
    texts=texts,
)
