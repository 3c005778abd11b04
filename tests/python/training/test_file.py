# SPDX-License-Identifier: LGPL-2.1-only
"""Training files: presets, defaults, and one clear error for inconsistent values."""

from pathlib import Path
from typing import Any

import pytest

from tests.python.training.test_programs import EXPERTS, MODEL, training
from weft.base.errors import WeftError
from weft.training.file import load_model


def test_a_file_changes_a_preset(tmp_path: Path) -> None:
    path = tmp_path / "short.toml"
    path.write_text(
        'like = "llama-3-8b"\n[model]\nlayers = 4\n[parallel]\npipeline = 2\n'
        "[batch]\nsequence = 1024\nglobal = 8\nmicro = 2\n"
    )
    found = load_model(path)
    assert (found.name, found.source) == ("llama-3-8b", str(path))
    assert (found.model.layers, found.model.hidden) == (4, 4096)
    assert (found.microbatches, found.chunks) == (4, ((0, 1), (2, 3)))


def test_layers_per_stage_need_not_be_equal() -> None:
    given = {"pipeline": 2, "virtual_stages": 2, "layers_per_stage": [0, 2, 1, 1]}
    file = training(parallel=given)
    assert file.chunks_of(0) == ((), (2,))
    assert file.chunks_of(1) == ((0, 1), (3,))


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (
            {"model": {**MODEL, "layer": 4}},
            "[model] layer: no such key; did you mean layers or dense_layers?",
        ),
        ({"model": {"hidden": 64}}, "[model] layers: is missing, but required"),
        (
            {"model": {**MODEL, "heads": 7, "kv_heads": 7}},
            "[model] heads: found 7, not a divisor of hidden = 64; give head_size",
        ),
        (
            {"model": {**MODEL, "kv_heads": 3}},
            "[model] kv_heads: found 3, not a divisor of heads = 8",
        ),
        (
            {"model": {**MODEL, "dense_layers": 1}},
            "[model] dense_layers: found without experts; give their number as experts",
        ),
        (
            {"model": {**MODEL, "rope_size": 4}},
            "[model] rope_size: found without kv_rank, which latent attention needs",
        ),
        (
            {"parallel": {"tensor": 16}},
            "[parallel] tensor: found 16, which does not divide heads = 8",
        ),
        (
            {"parallel": {"pipeline": 3}},
            "[parallel] pipeline: 3 stages do not divide 4 layers; give layers_per_stage, a list of"
            " the layers of each",
        ),
        (
            {"parallel": {"pipeline": 2, "layers_per_stage": [1, 2]}},
            "[parallel] layers_per_stage: found 2 stages of 3 layers together; needed are 2 stages"
            " of 4 layers",
        ),
        (
            {"parallel": {"schedule": "zero-bubble"}},
            "[parallel] schedule: found 'zero-bubble' with one stage; give pipeline above 1",
        ),
        (
            {"parallel": {"pipeline": 2, "virtual_stages": 2, "schedule": "1f1b"}},
            '[parallel] virtual_stages: found 2 with schedule = "1f1b"; give several with'
            ' "interleaved" only',
        ),
        (
            {
                "parallel": {"pipeline": 2, "virtual_stages": 2},
                "batch": {"sequence": 64, "global": 3},
            },
            "[batch] global: found 3, which is 3 microbatches a rank; interleaved stages need a"
            " multiple of pipeline = 2",
        ),
        (
            {"parallel": {"expert": 2}},
            "[parallel] expert: found 2, but the model has no experts",
        ),
        (
            {"model": {**MODEL, **EXPERTS}, "parallel": {"expert": 4, "data": 2}},
            "[parallel] expert: found 4, which does not divide 2 data x context ranks",
        ),
        (
            {"model": {**MODEL, **EXPERTS}, "parallel": {"expert": 3, "data": 3}},
            "[parallel] expert: found 3, which does not divide 8 experts",
        ),
        (
            {"parallel": {"data": 4, "sharding": "hybrid"}},
            "[parallel] shard_group: is missing, but required",
        ),
        (
            {"parallel": {"data": 4, "shard_group": 2}},
            '[parallel] shard_group: found without sharding = "hybrid", which it belongs to',
        ),
        (
            {"parallel": {"data": 1 << 20, "tensor": 2}},
            "[parallel] data: tensor x context x pipeline x data are 2,097,152 ranks; allowed are"
            " at most 1,048,576",
        ),
        (
            {"parallel": {"data": 3}},
            "[batch] global: found 4, but micro x data = 1 x 3 sequences are computed at once; give"
            " a multiple of 3",
        ),
        (
            {"parallel": {"context": 2, "tensor": 2}, "batch": {"sequence": 66, "global": 1}},
            "[batch] sequence: found 66; context x tensor = 2 x 2 ranks divide it into 8 parts:"
            " give a multiple of 8",
        ),
        (
            {"train": {"precision": "fp4"}},
            "[train] precision: found 'fp4'; allowed are bf16, fp16, fp8",
        ),
        ({"train": {"copies": 2}}, "[train] copies: found, but the model has no experts"),
    ],
)
def test_what_does_not_fit_is_named(tables: dict[str, Any], message: str) -> None:
    with pytest.raises(WeftError) as error:
        training(**tables)
    assert str(error.value) == f"test.toml: {message}"


def test_unknown_models_are_named() -> None:
    with pytest.raises(WeftError, match=r"model: found 'llama-3-71b', which is no file; did you"):
        load_model("llama-3-71b")


def test_unknown_presets_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text('like = "lama-3-8b"\n')
    with pytest.raises(WeftError, match=r"a\.toml: \[like\]: found 'lama-3-8b'; did you mean"):
        load_model(path)


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(WeftError, match=r"none\.toml: cannot be read: No such file"):
        load_model(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("[model")
    with pytest.raises(WeftError, match=r"bad\.toml: invalid TOML"):
        load_model(tmp_path / "bad.toml")
