# SPDX-License-Identifier: LGPL-2.1-only
"""Detection of formats: what is a trace of training, and what is left to other readers."""

import gzip
from pathlib import Path

import pytest

from tests.support.training_traces import (
    COMPUTE,
    kernel,
    node,
    workload_of,
    write_kineto,
    write_ranks,
)
from weft.base.errors import WeftError
from weft.training.formats.reading import CHAKRA, HOST, KINETO, SIMAI, detect


def test_chakra(tmp_path: Path) -> None:
    nodes = [node(0, COMPUTE, micros=1)]
    write_ranks(tmp_path, nodes, nodes)
    assert detect(tmp_path) == CHAKRA
    assert detect(tmp_path / "trace") == CHAKRA
    assert detect(tmp_path / "trace.1.et") == CHAKRA
    assert detect(tmp_path / "other") is None
    graph = tmp_path / "g"
    graph.mkdir()
    (graph / "g.0.json").write_text('{"workload_graph": []}')
    assert detect(graph) == detect(graph / "g.0.json") == CHAKRA


def test_kineto(tmp_path: Path) -> None:
    path = write_kineto(tmp_path / "a.json.gz", [kernel("a", 7, 0.0, 1.0)])
    assert detect(path) == detect(tmp_path) == KINETO


def test_host_traces_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "et.json.gz"
    path.write_bytes(gzip.compress(b'{\n "schema": "1.0.2-chakra.0.0.4", "nodes": []}'))
    assert detect(path) == HOST
    with pytest.raises(WeftError, match="is the host trace of PyTorch's ExecutionTraceObserver"):
        workload_of(path)


def test_simai(tmp_path: Path) -> None:
    path = tmp_path / "w.txt"
    path.write_text("# note\nHYBRID_TRANSFORMER_FWD_IN_BCKWD ep: 1\n12\n")
    assert detect(path) == SIMAI


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.goal", b"num_ranks 2\n"),
        ("a.txt", b"0 init\n0 compute 1\n"),
        ("a.txt", b"MICRO\nnot a number\n"),
        ("a.txt", b"HYBRID_TRANSFORMER\n1\0"),
        ("a.json", b'{"ranks": 2}'),
        ("a.json", b"[]"),
        ("a.json.gz", b"\x1f\x8b broken"),
        ("a.bin", b""),
    ],
)
def test_other_files_are_left_to_other_readers(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert detect(path) is None
    assert detect(tmp_path) is None
    with pytest.raises(WeftError, match="is no trace of training"):
        workload_of(path)
