# SPDX-License-Identifier: LGPL-2.1-only
"""Chakra execution traces: meaning of each field, and errors that name the node."""

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.support.training_traces import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_TO_ALL,
    BARRIER,
    BROADCAST,
    COLLECTIVE,
    COMPUTE,
    GATHER,
    LOAD,
    METADATA,
    RECEIVE,
    REDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    SCATTER,
    SEND,
    Typed,
    et_bytes,
    node,
    operations_of,
    program_of,
    text,
    varint,
    whole,
    workload_of,
    write_ranks,
)
from weft.base.errors import WeftError
from weft.training.accelerator import load_accelerator
from weft.training.formats.roofline import roofline_of

MIB = 1 << 20


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(WeftError) as error:
        workload_of(path, **options)
    return str(error.value)


def collective(
    number: int, kind: int, size: int, after: tuple[int, ...] = (), **more: Any
) -> bytes:
    return node(number, COLLECTIVE, after, comm_type=kind, comm_size=size, **more)


# ---- Collectives


@pytest.mark.parametrize(
    ("kind", "name", "size"),
    [
        (ALL_REDUCE, "allreduce", MIB),
        (REDUCE, "reduce", MIB),
        (ALL_GATHER, "allgather", 4 * MIB),
        (BROADCAST, "bcast", MIB),
        (ALL_TO_ALL, "alltoall", MIB),
        (REDUCE_SCATTER, "reduce_scatter_block", MIB),
        (REDUCE_SCATTER_BLOCK, "reduce_scatter_block", MIB),
        (BARRIER, "allreduce", 4),
    ],
)
def test_a_collective_of_all_ranks(tmp_path: Path, kind: int, name: str, size: int) -> None:
    nodes = [collective(0, kind, MIB)]
    workload = workload_of(write_ranks(tmp_path, nodes, nodes, nodes, nodes))
    assert workload.groups == [("all ranks", [[0, 1, 2, 3]])]
    assert workload.program_of == [0, 0, 0, 0]
    (one,) = operations_of(workload)
    assert (one.type, one.collective, one.amount, one.kind) == ("collective", name, size, 0)
    assert not program_of(workload).in_order


def test_sizes_of_an_allgather_may_be_those_of_its_result(tmp_path: Path) -> None:
    nodes = [collective(0, ALL_GATHER, MIB)]
    workload = workload_of(write_ranks(tmp_path, nodes, nodes), sizes="total")
    assert operations_of(workload)[0].amount == MIB


@pytest.mark.parametrize("kind", [GATHER, SCATTER])
def test_gather_and_scatter_are_messages_with_the_first_rank(tmp_path: Path, kind: int) -> None:
    size = 300 if kind == SCATTER else 100
    nodes = [collective(0, kind, size), node(1, COMPUTE, (0,), 5)]
    workload = workload_of(write_ranks(tmp_path, nodes, nodes, nodes))
    root, leaf = operations_of(workload, 0), operations_of(workload, 2)
    inwards, outwards = ("receive", "send") if kind == GATHER else ("send", "receive")
    assert [(one.type, one.peer, one.amount) for one in root[:2]] == [
        (inwards, 1, 100),
        (inwards, 2, 100),
    ]
    assert root[2].after == (0, 1)
    assert root[3].after == (2,)
    assert (leaf[0].type, leaf[0].peer, leaf[0].amount) == (outwards, -2, 100)


def test_groups_of_pytorch_with_names_that_are_no_numbers(tmp_path: Path) -> None:
    def rank(pair: list[int], name: str) -> list[bytes]:
        groups = json.dumps(
            [
                {"pg_name": "0", "ranks": [], "group_size": 4},
                {"pg_name": name, "ranks": pair, "pg_desc": "mesh_tp"},
            ]
        )
        return [
            node(1, METADATA, inputs=f"['{groups}']", name="## process_group:init ##"),
            collective(2, ALL_REDUCE, 64, (1,), pg_name=name),
            collective(3, ALL_REDUCE, 32, (2,), pg_name="0"),
        ]

    low, high = rank([0, 1], "7af3"), rank([2, 3], "91bc")
    workload = workload_of(write_ranks(tmp_path, low, low, high, high))
    assert workload.groups == [("mesh_tp", [[0, 1], [2, 3]]), ("all ranks", [[0, 1, 2, 3]])]
    assert workload.program_of == [0, 0, 0, 0]


def test_groups_from_a_file(tmp_path: Path) -> None:
    rows = [collective(0, ALL_REDUCE, 64, pg_name=str(group)) for group in (1, 2, 1, 2)]
    folder = write_ranks(tmp_path / "t", *[[one] for one in rows])
    groups = tmp_path / "groups.json"
    groups.write_text('{"1": [0, 2], "2": [1, 3]}')
    workload = workload_of(folder, groups=groups)
    assert workload.groups == [("2 ranks, stride 2", [[0, 2], [1, 3]])]
    assert "names process group '1', which the trace does not list" in refusal(folder)
    groups.write_text('{"1": [0, 0]}')
    assert "process group '1' is not a list of different ranks" in refusal(folder, groups=groups)


def test_overlapping_groups_are_different_kinds(tmp_path: Path) -> None:
    rows = [
        [collective(0, ALL_REDUCE, 8, comm_group=Typed(7, 1))],
        [
            collective(0, ALL_REDUCE, 8, comm_group=Typed(7, 1)),
            collective(1, ALL_REDUCE, 8, (0,), comm_group=2),
        ],
        [collective(1, ALL_REDUCE, 8, comm_group=2)],
    ]
    groups = tmp_path / "groups.json"
    groups.write_text('{"1": [0, 1], "2": [1, 2]}')
    workload = workload_of(write_ranks(tmp_path / "t", *rows), groups=groups)
    assert workload.groups == [("2 ranks", [[0, 1]]), ("2 ranks #2", [[1, 2]])]
    assert [one.kind for one in operations_of(workload, 1)] == [0, 1]


def test_involved_dimensions_are_ranks_of_a_grid(tmp_path: Path) -> None:
    nodes = [
        collective(0, ALL_REDUCE, 8, involved_dim=[True, False]),
        collective(1, ALL_REDUCE, 8, (0,), involved_dim=[False, True]),
        collective(2, ALL_REDUCE, 8, (1,), involved_dim=[True, True]),
    ]
    folder = write_ranks(tmp_path, *[nodes] * 6)
    workload = workload_of(folder, dimensions=(2, 3))
    assert workload.groups == [
        ("2 ranks", [[0, 1], [2, 3], [4, 5]]),
        ("3 ranks, stride 2", [[0, 2, 4], [1, 3, 5]]),
        ("all ranks", [[0, 1, 2, 3, 4, 5]]),
    ]
    assert "name their sizes with logical_dimensions" in refusal(folder)
    assert "logical_dimensions gives 4" in refusal(folder, dimensions=(2, 2))


def test_parts_of_an_alltoall_may_differ(tmp_path: Path) -> None:
    workload = workload_of(
        write_ranks(tmp_path, [collective(0, ALL_TO_ALL, 30)], [collective(0, ALL_TO_ALL, 10)])
    )
    assert [operations_of(workload, rank)[0].amount for rank in (0, 1)] == [20, 20]


# ---- Computation, streams, messages


@pytest.mark.parametrize("form", [27, 7, 9, 11, 13, 15, 17, 21, 29])
def test_integers_of_any_type(tmp_path: Path, form: int) -> None:
    flag = "1" if form == 29 else 1
    nodes = [node(0, COMPUTE, micros=3, is_cpu_op=Typed(form, flag)), node(1, COMPUTE, micros=4)]
    program = program_of(workload_of(write_ranks(tmp_path, nodes)))
    host, gpu = program.operations
    assert program.host_streams == {host.stream}
    assert host.stream != gpu.stream
    assert (host.amount, gpu.amount) == pytest.approx((3e-6, 4e-6))


def test_without_streams_a_rank_has_one_of_each_kind(tmp_path: Path) -> None:
    nodes = [
        node(0, COMPUTE, micros=1),
        node(1, COMPUTE, micros=1),
        collective(2, ALL_REDUCE, 8),
        node(3, SEND, comm_dst=Typed(7, 1), comm_size=8),
        node(4, RECEIVE, comm_src=1, comm_size=8),
        node(5, RECEIVE, comm_src=1, comm_size=8, comm_tag=1),
        node(6, RECEIVE, (4,), comm_src=1, comm_size=8, comm_tag=2),
        node(7, COMPUTE, micros=1, is_cpu_op=True),
    ]
    other = [
        collective(2, ALL_REDUCE, 8),
        node(3, RECEIVE, comm_src=0, comm_size=8),
        *(node(4 + tag, SEND, comm_dst=0, comm_size=8, comm_tag=tag) for tag in range(3)),
    ]
    found = operations_of(workload_of(write_ranks(tmp_path, nodes, other)))
    streams = [one.stream for one in found if one.type != "receive"]
    assert streams[0] == streams[1]
    assert streams[2] == streams[3]
    assert streams[4] == streams[5] == streams[6]
    assert len({streams[index] for index in (0, 2, 4, 7)}) == 4
    receives = [one for one in found if one.type == "receive"]
    assert len({one.stream for one in receives} | {*streams}) == 7
    assert [one.after for one in receives] == [(), (), ()]
    assert [one.after for one in found[5:10:2]] == [(4,), (6,), (5, 8)]


def test_streams_and_threads_that_the_trace_names(tmp_path: Path) -> None:
    nodes = [
        node(0, COMPUTE, micros=1, stream=7),
        node(1, COMPUTE, micros=1, stream=20),
        node(2, COMPUTE, micros=1, tid=7, is_cpu_op=True, stream=0),
        node(3, COMPUTE, micros=1, tid=8, is_cpu_op=True, stream=0),
        collective(4, ALL_REDUCE, 8, stream=20),
    ]
    program = program_of(workload_of(write_ranks(tmp_path, nodes, nodes)))
    streams = [one.stream for one in program.operations]
    assert len(set(streams)) == 4
    assert streams[4] == streams[1]
    assert program.host_streams == {streams[2], streams[3]}


def test_nodes_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    nodes = [node(9, COMPUTE, (4,), 2), node(4, COMPUTE, (12,), 1), node(12, COMPUTE, (), 3)]
    found = operations_of(workload_of(write_ranks(tmp_path, nodes)))
    assert [one.name for one in found] == ["node_4", "node_9", "node_12"]
    assert [one.after for one in found] == [(2,), (0,), ()]


def test_durations_from_counts(tmp_path: Path) -> None:
    nodes = [
        node(0, COMPUTE, num_ops=6_000, tensor_size=Typed(13, 20)),
        node(1, COMPUTE, (0,), 7, num_ops=1),
        node(2, LOAD, (1,), tensor_size=40),
        node(3, COMPUTE, (2,), is_cpu_op=Typed(7, 0)),
    ]
    folder = write_ranks(tmp_path, nodes)
    workload = workload_of(folder, roofline=lambda flops, size: flops * 1e-3 + size)
    amounts = [one.amount for one in operations_of(workload)]
    assert amounts == pytest.approx([26.0, 7e-6, 40.0, 0.0])
    assert "node 0 (node_0): has no duration, but 6,000 operations on 20 bytes" in refusal(folder)


def test_the_host_side_of_a_collective_is_computation(tmp_path: Path) -> None:
    nodes = [node(0, COLLECTIVE, micros=85, is_cpu_op=True, name="c10d::broadcast_")]
    (one,) = operations_of(workload_of(write_ranks(tmp_path, nodes)))
    assert one.type == "compute"
    assert one.amount == pytest.approx(85e-6)


def test_messages_of_one_tag_match_by_size(tmp_path: Path) -> None:
    first = [
        node(0, SEND, comm_dst=1, comm_size=8),
        node(1, SEND, comm_dst=1, comm_size=16),
    ]
    second = [
        node(0, RECEIVE, comm_src=0, comm_size=16),
        node(1, RECEIVE, comm_src=0, comm_size=8),
    ]
    workload = workload_of(write_ranks(tmp_path, first, second))
    sent = {one.amount: one.tag for one in operations_of(workload, 0)}
    received = {one.amount: one.tag for one in operations_of(workload, 1) if one.type == "receive"}
    assert sent == received
    assert len({*sent.values()}) == 2


def test_comm_type_of_messages_is_ignored(tmp_path: Path) -> None:
    """ASTRA-sim's converter of custom collectives writes the node's type there."""
    first = [node(0, SEND, comm_dst=1, comm_size=8, comm_type=5)]
    second = [node(0, RECEIVE, comm_src=0, comm_size=8, comm_type=6)]
    workload = workload_of(write_ranks(tmp_path, first, second))
    assert operations_of(workload, 1)[0].peer == -1


def test_random_graphs_keep_their_dependencies(tmp_path: Path) -> None:
    dice = random.Random(5)
    for case in range(200):
        count = dice.randrange(1, 40)
        numbers = dice.sample(range(1000), count)
        after = {
            number: dice.sample(numbers[:index], dice.randrange(min(index, 5) + 1))
            for index, number in enumerate(numbers)
        }
        nodes = [node(number, COMPUTE, after[number], 1 + number) for number in numbers]
        dice.shuffle(nodes)
        found = operations_of(workload_of(write_ranks(tmp_path / str(case), nodes)))
        names = [int(one.name.removeprefix("node_")) for one in found]
        assert names == sorted(numbers)
        for number, one in zip(names, found, strict=True):
            assert sorted(names[index] for index in one.after) == sorted(after[number])
            assert one.amount == pytest.approx((1 + number) * 1e-6)


# ---- Files


def test_folders_prefixes_and_files_mean_all_ranks(tmp_path: Path) -> None:
    nodes = [collective(0, ALL_REDUCE, 8)]
    write_ranks(tmp_path, *[nodes] * 11, packed=True)
    for path in (tmp_path, tmp_path / "trace", tmp_path / "trace.3.et.gz"):
        assert len(workload_of(path).program_of) == 11
    write_ranks(tmp_path, nodes, name="other")
    assert "found several traces (other, trace)" in refusal(tmp_path)
    assert len(workload_of(tmp_path / "other").program_of) == 1


def test_versions_in_the_schema_attribute(tmp_path: Path) -> None:
    path = tmp_path / "a.0.et"
    nodes = [node(0, COMPUTE, micros=1)]
    path.write_bytes(et_bytes(nodes, "", {"schema": "1.0.2-chakra.0.0.4"}))
    assert len(operations_of(workload_of(path))) == 1
    path.write_bytes(et_bytes(nodes, "", {"schema": "1.0.2-chakra.0.0.1"}))
    assert "has schema 1.0.2-chakra.0.0.1; allowed: 0.0.4 and later" in refusal(path)


def test_an_empty_metadata_message_and_padding(tmp_path: Path) -> None:
    path = tmp_path / "a.0.et"
    path.write_bytes(et_bytes([node(0, COMPUTE, micros=1)], "") + bytes(20))
    assert len(operations_of(workload_of(path))) == 1


def test_old_and_mixed_schemas(tmp_path: Path) -> None:
    nodes = [collective(0, ALL_REDUCE, 8)]
    path = tmp_path / "a.0.et"
    path.write_bytes(et_bytes(nodes, "0.0.1"))
    assert refusal(path) == (
        f"trace: {path}: has schema 0.0.1; allowed: 0.0.4 and later; convert it again with a newer"
        " Chakra"
    )
    headless = nodes[0]
    path.write_bytes(varint(len(headless)) + headless)
    assert "begins with a node, as traces of schema 0.0.1 do" in refusal(path)
    path.write_bytes(et_bytes(nodes, "0.0.4"))
    (tmp_path / "a.1.et").write_bytes(et_bytes(nodes, "1.0.0"))
    assert "schemas differ: a.0.et has '0.0.4' and a.1.et '1.0.0'" in refusal(tmp_path)


def test_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "a.0.et"
    content = et_bytes([node(0, COMPUTE, micros=1), node(1, COMPUTE, micros=1)])
    path.write_bytes(content[:-3])
    assert refusal(path) == (
        f"trace: {path}: truncated: the file ends within message 2; copy it again, or record it"
        " again"
    )
    path.write_bytes(b"")
    assert "found an empty file" in refusal(path)
    path.write_bytes(b"\xff\xff\xff\xff\x7f not a trace")
    assert "this is not a Chakra execution trace" in refusal(path)
    path.write_bytes(et_bytes([text(1, "x")]))
    assert "message 1 is no Chakra node" in refusal(path)
    path.write_bytes(gzip.compress(content)[:-9])
    assert "the gzip file is truncated" in refusal(path)
    path.write_bytes(gzip.compress(content)[:12] + b"\xff" * 30)
    assert "the gzip file is" in refusal(path)
    path.unlink()
    path = tmp_path / "a.0.et.gz"
    path.write_bytes(content)
    assert "is not a gzip file, as its name says" in refusal(path)


def test_every_cut_of_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.0.et"
    content = et_bytes([node(0, COMPUTE, micros=1, is_cpu_op=True, pg_name="x")])
    for size in range(1, len(content)):
        path.write_bytes(content[:size])
        assert str(path) in refusal(path)


def test_missing_ranks(tmp_path: Path) -> None:
    nodes = [collective(0, ALL_REDUCE, 8)]
    write_ranks(tmp_path, *[nodes] * 4)
    (tmp_path / "trace.1.et").unlink()
    (tmp_path / "trace.2.et").unlink()
    assert refusal(tmp_path) == (
        f"trace: {tmp_path}: ranks 1, 2 of 4 missing: found the files of 2; add their files"
    )
    (tmp_path / "trace.0.et").unlink()
    assert "or use replicate 4 if all ranks do the same" in refusal(tmp_path)
    workload = workload_of(tmp_path, replicate=8)
    assert workload.groups == [("all ranks", [list(range(8))])]
    assert "name a larger number" in refusal(tmp_path, replicate=2)
    write_ranks(tmp_path, nodes)
    assert "found the files of 2 ranks" in refusal(tmp_path, replicate=8)


def test_the_json_form(tmp_path: Path) -> None:
    path = tmp_path / "chakra.0.json"
    graph = [
        {"Id": 2, "Name": "b", "NodeType": 4, "data_deps": [1], "is_cpu_op": False, "runtime": 4},
        {"Id": 1, "Name": "a}, {", "NodeType": 4, "data_deps": [], "is_cpu_op": True},
        {
            **{"Id": 3, "NodeType": 7, "data_deps": [2], "is_cpu_op": False},
            **{"comm_type": 0, "comm_size": 64},
        },
    ]
    path.write_text(json.dumps({"workload_graph": graph, "ngpus": 8}))
    found = operations_of(workload_of(path, replicate=4))
    assert [(one.name, one.after) for one in found] == [("a}, {", ()), ("b", (0,)), ("", (1,))]
    assert found[2].amount == 64
    del graph[2]["comm_type"]
    path.write_text(json.dumps({"workload_graph": graph}))
    assert "node 3: is a collective without comm_type and comm_size" in refusal(path)
    graph[0]["data_deps"] = ["1"]
    path.write_text(json.dumps({"workload_graph": graph}))
    assert "found a node without whole numbers" in refusal(path)
    path.write_text(json.dumps({"workload_graph": graph})[:-20])
    assert "truncated: the JSON text ends within an array" in refusal(path)


# ---- Errors across nodes and ranks


def test_dangling_and_cyclic_dependencies(tmp_path: Path) -> None:
    folder = write_ranks(tmp_path / "a", [node(0, COMPUTE, (5,), 1)])
    assert "rank 0: node 0 (node_0): depends on node 5, which the file does not have" in refusal(
        folder
    )
    ring = [node(0, COMPUTE, (), 1), *(node(n, COMPUTE, (0, n % 3 + 1), 1) for n in (1, 2, 3))]
    found = refusal(write_ranks(tmp_path / "b", ring))
    assert "dependencies are cyclic (nodes 1 -> 2 -> 3)" in found
    assert "is cyclic" not in found
    folder = write_ranks(tmp_path / "c", [node(3, COMPUTE, (3,), 1)])
    assert "dependencies are cyclic (nodes 3)" in refusal(folder)
    folder = write_ranks(tmp_path / "d", [node(3, COMPUTE, (), 1), node(3, COMPUTE, (), 1)])
    assert "node 3 (node_3): two nodes have this number" in refusal(folder)


def test_collectives_that_ranks_do_not_share(tmp_path: Path) -> None:
    one, two = collective(0, ALL_REDUCE, 8), collective(1, ALL_REDUCE, 8, (0,))
    found = refusal(write_ranks(tmp_path / "a", [one, two], [one]))
    assert (
        "node 0 (node_0): 'allreduce' of 8 bytes in process group '0': rank 0 calls it 2" in found
    )
    found = refusal(write_ranks(tmp_path / "b", [one], [node(0, COMPUTE, micros=1)]))
    assert (
        "'allreduce' in process group '0' of ranks 0, 1, which rank 1 (trace.1.et) never" in found
    )
    found = refusal(write_ranks(tmp_path / "c", [one], [collective(0, ALL_REDUCE, 16)]))
    assert (
        "'allreduce' of 8 bytes in process group '0': rank 0 calls it 1 times and rank 1 0" in found
    )


def test_groups_that_differ_between_ranks(tmp_path: Path) -> None:
    def rank(members: list[int]) -> list[bytes]:
        groups = json.dumps([{"pg_name": "1", "ranks": members}])
        return [
            node(1, METADATA, inputs=f"['{groups}']"),
            collective(2, ALL_REDUCE, 8, pg_name="1"),
        ]

    found = refusal(write_ranks(tmp_path / "a", rank([0, 1]), rank([1, 2]), rank([1, 2])))
    assert "process group '1' has ranks 0, 1 here, and on rank 1 ranks 1, 2" in found
    found = refusal(write_ranks(tmp_path / "b", rank([1, 2]), rank([1, 2]), rank([1, 2])))
    assert "process group '1' has ranks 1, 2, and not rank 0 itself" in found
    found = refusal(write_ranks(tmp_path / "c", rank([0, 7]), rank([1, 2]), rank([1, 2])))
    assert "and the trace has ranks 0 to 2 only" in found


def test_collectives_on_the_cpu_and_without_size(tmp_path: Path) -> None:
    folder = write_ranks(tmp_path / "a", [collective(0, ALL_REDUCE, 8, is_cpu_op=True)])
    assert "node 0 (node_0): is a communication on the CPU" in refusal(folder)
    folder = write_ranks(tmp_path / "b", [node(0, COLLECTIVE, comm_type=0)])
    assert "has no comm_size" in refusal(folder)
    folder = write_ranks(tmp_path / "c", [collective(0, 12, 8)])
    assert "has comm_type 12; allowed are 0 to 9" in refusal(folder)
    folder = write_ranks(
        tmp_path / "d", [node(0, COLLECTIVE, comm_type=0, comm_size=Typed(3, -1.0))]
    )
    assert "has comm_size '-1.0', which is no whole number" in refusal(folder)
    folder = write_ranks(tmp_path / "e", [node(0, 9)])
    assert "has type 9; allowed are 0 to 7" in refusal(folder)


def test_messages_without_partner(tmp_path: Path) -> None:
    send = node(3, SEND, comm_dst=1, comm_size=1024, comm_tag=3)
    rest = node(9, COMPUTE, micros=1)
    found = refusal(write_ranks(tmp_path / "a", [send], [rest]))
    assert "rank 0: node 3 (node_3): sends 1,024 bytes to rank 1 with tag 3" in found
    assert "1 such sends and 0 receives, and it would wait for ever" in found
    receive = node(4, RECEIVE, comm_src=0, comm_size=512, comm_tag=3)
    found = refusal(write_ranks(tmp_path / "b", [send], [receive]))
    assert "and rank 1 receives 512 bytes from rank 0 (node 4)" in found
    found = refusal(write_ranks(tmp_path / "c", [rest], [receive]))
    assert "rank 1: node 4 (node_4): receives 512 bytes from rank 0" in found
    found = refusal(write_ranks(tmp_path / "d", [send, node(4, SEND, comm_size=1)], [rest]))
    assert "node 4 (node_4): has no comm_dst" in found
    found = refusal(write_ranks(tmp_path / "e", [node(1, SEND, comm_size=1, comm_dst=5)], [rest]))
    assert "a message with rank 5; the trace has ranks 0 to 1" in found


def test_a_trace_without_time(tmp_path: Path) -> None:
    folder = write_ranks(tmp_path, [node(0, COMPUTE)], [node(0, METADATA)])
    assert "no node of 2 ranks takes time" in refusal(folder)


# ---- Replication


def test_replicated_groups_tile_the_ranks(tmp_path: Path) -> None:
    groups = tmp_path / "groups.json"
    groups.write_text('{"1": [0, 1], "2": [0, 2, 4, 6], "3": [0, 3]}')
    nodes = [
        collective(0, ALL_REDUCE, 8, pg_name="1"),
        collective(1, ALL_REDUCE, 8, pg_name="2"),
        collective(2, ALL_REDUCE, 8, pg_name="0"),
    ]
    folder = write_ranks(tmp_path / "t", nodes)
    workload = workload_of(folder, groups=groups, replicate=16)
    assert workload.program_of == [0] * 16
    assert workload.groups[0] == ("2 ranks", [[n, n + 1] for n in range(0, 16, 2)])
    assert workload.groups[1] == (
        "4 ranks, stride 2",
        [[0, 2, 4, 6], [1, 3, 5, 7], [8, 10, 12, 14], [9, 11, 13, 15]],
    )
    folder = write_ranks(tmp_path / "u", [collective(0, ALL_REDUCE, 8, pg_name="3")])
    assert "do not tile 16 ranks evenly" in refusal(folder, groups=groups, replicate=16)


def test_replicated_messages_are_a_ring(tmp_path: Path) -> None:
    nodes = [
        node(0, SEND, comm_dst=1, comm_size=8),
        node(1, RECEIVE, comm_src=3, comm_size=8),
    ]
    workload = workload_of(write_ranks(tmp_path / "a", nodes), replicate=4)
    assert [one.peer for one in operations_of(workload, 1)] == [1, -1, 0]
    assert [one.peer for one in operations_of(workload, 3)] == [-3, -1, 0]
    found = refusal(write_ranks(tmp_path / "b", nodes[:1]), replicate=4)
    assert "a message that no copy of this rank answers" in found


def test_progress_names_the_rank(tmp_path: Path) -> None:
    shown: list[str] = []
    nodes = [collective(0, ALL_REDUCE, 8)]
    workload_of(write_ranks(tmp_path, nodes, nodes), progress=shown.append)
    assert shown == ["reading rank 0 of 2", "reading rank 1 of 2"]


def test_lists_may_be_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "a.0.et"
    after = node(2, COMPUTE, (), 1) + whole(5, 0) + whole(5, 1)
    path.write_bytes(et_bytes([node(0, COMPUTE, (), 1), node(1, COMPUTE, (), 1), after]))
    assert operations_of(workload_of(path))[2].after == (0, 1)


def test_the_roofline_of_a_gpu(tmp_path: Path) -> None:
    gpu = load_accelerator("h100-sxm")
    bound_by_operations, bound_by_bytes = 1e15, 10**12
    nodes = [
        node(0, COMPUTE, num_ops=int(bound_by_operations), tensor_size=8),
        node(1, COMPUTE, num_ops=8, tensor_size=bound_by_bytes),
    ]
    found = operations_of(
        workload_of(write_ranks(tmp_path, nodes), roofline=roofline_of("h100-sxm"))
    )
    rate = gpu.peak["bf16"] * gpu.efficiency
    assert found[0].amount == pytest.approx(bound_by_operations / rate + gpu.launch_s)
    assert found[1].amount == pytest.approx(gpu.memory_s(bound_by_bytes))
    with pytest.raises(WeftError, match="gpu: found 'h101'"):
        roofline_of("h101")
