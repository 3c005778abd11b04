# SPDX-License-Identifier: LGPL-2.1-only
"""Detection of formats: training traces, and files for other readers."""

import gzip
import json
import random
from collections import Counter
from pathlib import Path

import pytest

from tests.support.training_traces import (
    COLLECTIVE,
    COMPUTE,
    Typed,
    et_bytes,
    event,
    kernel,
    launch,
    nccl,
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


def test_damaged_traces_have_one_message(tmp_path: Path) -> None:
    """Changed, deleted or repeated bytes cause a workload or an error, never a traceback."""
    dice = random.Random(53)
    nodes = [
        node(1, COMPUTE, (), 5, is_cpu_op=True, tid=3),
        node(2, COLLECTIVE, (1,), comm_type=0, comm_size=64, pg_name=""),
        node(3, COMPUTE, (2,), num_ops=Typed(3, 5.0), tensor_size=9, micros=2),
    ]
    graph = [
        {"Id": 1, "Name": "a", "NodeType": 4, "data_deps": [], "runtime": 4, "is_cpu_op": False},
        {"Id": 2, "NodeType": 7, "data_deps": [1], "comm_type": 0, "comm_size": 8},
    ]
    events = [
        launch(1, 1.0),
        kernel("a", 7, 5.0, 5.0, 1),
        nccl("all_to_allv", 20, 10.0, 5.0, 10, [0, 1], 2),
        event("cuda_sync", "Stream Wait Event", 2.0, 1.0, stream=7, wait_on_stream=20),
    ]
    write_kineto(tmp_path / "k.json", events, world=2)
    contents = {
        "t.0.et": et_bytes(nodes),
        "t.0.json": json.dumps({"workload_graph": graph}).encode(),
        "k.json": (tmp_path / "k.json").read_bytes(),
        "w.txt": b"MICRO all_gpus: 8\n1\nlayer -1 1 ALLREDUCE 5 2 NONE 0 1 ALLREDUCE_EP 5 100\n",
    }
    outcomes = Counter[str]()
    for _ in range(2000):
        name = dice.choice(list(contents))
        content = bytearray(contents[name])
        for _ in range(dice.randrange(1, 4)):
            _damage(content, dice)
        path = tmp_path / name
        path.write_bytes(content)
        try:
            workload_of(path, **dice.choice([{}, {"replicate": 2}, {"replicate": 8}]))
            outcomes["read"] += 1
        except WeftError as error:
            assert str(error).startswith("trace: ")
            outcomes["refused"] += 1
        path.unlink()
    assert outcomes["read"] > 50
    assert outcomes["refused"] > 500


def _damage(content: bytearray, dice: random.Random) -> None:
    at = dice.randrange(len(content) + 1)
    match dice.randrange(4):
        case 0:
            content[at : at + 1] = bytes((dice.randrange(256),))
        case 1:
            del content[at : at + dice.randrange(1, 20)]
        case 2:
            content[at:at] = content[at // 2 : at // 2 + dice.randrange(30)]
        case _:
            words = (b"1e400", b"-1", b"null", b'"x"', b"99999999999999999999", b"{}", b"[]")
            content[at : at + 1] = dice.choice(words)
