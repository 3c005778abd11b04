# SPDX-License-Identifier: LGPL-2.1-only
"""Kineto traces: streams, waits, idle times, collectives and messages of NCCL kernels."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.training_traces import (
    event,
    kernel,
    launch,
    nccl,
    operations_of,
    program_of,
    workload_of,
    write_kineto,
)
from tests.support.workloads import Executor, Operation
from weft.base.errors import WeftError
from weft.training.formats import json_stream, source

US = 1e-6


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(WeftError) as error:
        workload_of(path, **options)
    return str(error.value)


def short(one: Operation) -> tuple[str, int, float, tuple[int, ...]]:
    return one.collective or one.type, one.stream, round(one.amount * 1e6, 3), one.after


def of_events(tmp_path: Path, *events: dict[str, Any]) -> list[Operation]:
    path = write_kineto(tmp_path / "trace.json", events, world=2)
    workload = workload_of(path, replicate=2)
    Executor(workload).run()
    return operations_of(workload)


# ---- Streams and waits


def test_kernels_of_a_stream_are_one_computation_with_their_gaps(tmp_path: Path) -> None:
    path = write_kineto(
        tmp_path / "trace.json.gz",
        [
            kernel("b", 7, 130.0, 20.0),
            kernel("a", 7, 100.0, 10.0),
            kernel("other", 9, 105.0, 50.0),
            event("cpu_op", "aten::mm", 0.0, 500.0),
        ],
    )
    program = program_of(workload_of(path))
    assert program.in_order
    assert [short(one) for one in program.operations] == [
        ("compute", 0, 50.0, ()),
        ("compute", 1, 55.0, ()),
    ]
    assert program.operations[0].name == "a and 1 more"


def test_overlapping_kernels_of_a_stream_count_once(tmp_path: Path) -> None:
    path = write_kineto(tmp_path / "t.json", [kernel("a", 7, 0.0, 10.0), kernel("b", 7, 8.0, 10.0)])
    (one,) = operations_of(workload_of(path))
    assert one.amount == pytest.approx(18 * US)


def test_a_collective_follows_the_kernel_that_its_thread_launched(tmp_path: Path) -> None:
    found = of_events(
        tmp_path,
        *(launch(number, 10.0 * number) for number in (1, 2, 3)),
        kernel("backward", 7, 100.0, 50.0, 1),
        nccl("allreduce", 20, 155.0, 900.0, 1000, [0, 1], 2),
        kernel("more", 7, 150.0, 30.0, 3),
    )
    assert [short(one) for one in found] == [
        ("compute", 0, 50.0, ()),
        ("compute", 1, 5.0, (0,)),
        ("allreduce", 1, 4000.0 * 1e6, ()),
        ("compute", 0, 30.0, ()),
    ]


def test_a_launched_kernel_on_an_idle_stream_waited_for_another(tmp_path: Path) -> None:
    found = of_events(
        tmp_path,
        *(launch(number, 10.0 * number) for number in (1, 2, 3)),
        kernel("backward", 7, 100.0, 50.0, 1),
        nccl("allreduce", 20, 150.0, 200.0, 1000, [0, 1], 2),
        kernel("optimizer", 7, 352.0, 30.0, 3),
    )
    assert [short(one) for one in found] == [
        ("compute", 0, 50.0, ()),
        ("allreduce", 1, 4000.0 * 1e6, (0,)),
        ("compute", 0, 32.0, (1,)),
    ]


def test_a_late_launch_is_time_of_the_host(tmp_path: Path) -> None:
    found = of_events(
        tmp_path,
        launch(1, 10.0),
        launch(2, 20.0),
        launch(3, 349.0),
        kernel("backward", 7, 100.0, 50.0, 1),
        nccl("allreduce", 20, 150.0, 200.0, 1000, [0, 1], 2),
        kernel("late", 7, 352.0, 30.0, 3),
    )
    assert short(found[0]) == ("compute", 0, 50.0, ())
    assert short(found[2]) == ("compute", 0, 232.0, ())


def test_waits_of_a_work_that_take_no_time_in_the_trace(tmp_path: Path) -> None:
    """The second wait call is outside launches: the optimizer needs the collective's result."""
    wait = event("cuda_runtime", "cudaStreamWaitEvent", 35.0, 1.0, correlation=90)
    inner = event("cuda_runtime", "cudaStreamWaitEvent", 19.0, 1.0, correlation=91)
    wait["args"]["External id"] = 5
    inner["args"]["External id"] = 4
    found = of_events(
        tmp_path,
        *(launch(number, 10.0 * number) for number in (1, 2, 3, 4)),
        inner,
        wait,
        kernel("backward", 7, 100.0, 50.0, 1),
        nccl("allreduce", 20, 150.0, 10.0, 1000, [0, 1], 2, extra={"External id": 4}),
        kernel("forward", 7, 150.0, 50.0, 3),
        kernel("optimizer", 7, 200.0, 50.0, 4),
    )
    assert [short(one) for one in found] == [
        ("compute", 0, 50.0, ()),
        ("allreduce", 1, 4000.0 * 1e6, (0,)),
        ("compute", 0, 50.0, ()),
        ("compute", 0, 50.0, (1,)),
    ]


def test_recorded_synchronization_events_replace_inference(tmp_path: Path) -> None:
    record = event("cuda_runtime", "cudaEventRecord", 15.0, 1.0, correlation=80)
    wait = event("cuda_runtime", "cudaStreamWaitEvent", 25.0, 1.0, correlation=81)
    sync = event(
        "cuda_sync",
        "Stream Wait Event",
        25.0,
        1.0,
        stream=9,
        wait_on_stream=7,
        wait_on_cuda_event_record_corr_id=80,
        correlation=81,
    )
    found = of_events(
        tmp_path,
        *(launch(number, 10.0 * number) for number in (1, 2, 3, 4)),
        record,
        wait,
        sync,
        kernel("a", 7, 100.0, 50.0, 1),
        kernel("b", 7, 150.0, 50.0, 2),
        kernel("c", 9, 152.0, 10.0, 3),
        nccl("allreduce", 20, 200.0, 10.0, 1, [0, 1], 4),
    )
    assert [short(one) for one in found] == [
        ("compute", 0, 50.0, ()),
        ("compute", 1, 12.0, (0,)),
        ("compute", 2, 100.0, ()),
        ("allreduce", 2, 4.0 * 1e6, ()),
        ("compute", 0, 50.0, ()),
    ]


def test_launches_after_a_synchronization_follow_what_it_waited_for(tmp_path: Path) -> None:
    found = of_events(
        tmp_path,
        launch(1, 10.0),
        launch(2, 20.0),
        event("cuda_runtime", "cudaStreamSynchronize", 30.0, 325.0, correlation=70),
        launch(3, 360.0),
        kernel("loss", 7, 100.0, 50.0, 1),
        nccl("allreduce", 20, 150.0, 200.0, 1000, [0, 1], 2),
        kernel("next", 7, 380.0, 30.0, 3),
    )
    assert short(found[2]) == ("compute", 0, 60.0, (1,))


# ---- Collectives


@pytest.mark.parametrize(
    ("name", "elements", "dtype", "collective", "size"),
    [
        ("allreduce", 100, "Float", "allreduce", 400),
        ("allreduce_coalesced", 100, "BFloat16", "allreduce", 200),
        ("_allgather_base", (100, 200), "Half", "allgather", 400),
        ("all_gather_into_tensor_coalesced", (100, 200), "Byte", "allgather", 200),
        ("_reduce_scatter_base", (200, 100), "Double", "reduce_scatter_block", 1600),
        (
            "reduce_scatter_tensor_coalesced",
            (200, 100),
            "Float8_e4m3fn",
            *("reduce_scatter_block", 200),
        ),
        ("all_to_all", 60, "Long", "alltoall", 480),
        ("all_to_allv", (60, 80), "Int", "alltoall", 240),
        ("broadcast", 10, "Char", "bcast", 10),
        ("_broadcast_oop", 10, "Bool", "bcast", 10),
        ("reduce", 10, "Short", "reduce", 20),
        ("barrier", 0, "Byte", "allreduce", 4),
    ],
)
def test_collectives(
    tmp_path: Path,
    name: str,
    elements: int | tuple[int, int],
    dtype: str,
    collective: str,
    size: float,
) -> None:
    found = of_events(tmp_path, nccl(name, 20, 0.0, 10.0, elements, [0, 1], dtype=dtype))
    assert [(one.collective, one.amount) for one in found] == [(collective, size)]


def ranks_of_files(tmp_path: Path, *events: list[dict[str, Any]], **more: Any) -> Path:
    for rank, some in enumerate(events):
        write_kineto(tmp_path / f"rank{rank}.json", some, rank, len(events), **more)
    return tmp_path


def test_gathers_are_messages(tmp_path: Path) -> None:
    some = [nccl("gather", 20, 0.0, 10.0, (10, 30), [0, 1, 2])]
    workload = workload_of(ranks_of_files(tmp_path, some, some, some))
    Executor(workload).run()
    root = operations_of(workload)
    assert [(one.type, one.peer, one.amount) for one in root[:2]] == [
        ("receive", 1, 40),
        ("receive", 2, 40),
    ]
    assert len({one.stream for one in root}) == 3
    assert operations_of(workload, 2)[0].peer == -2


def test_sends_and_receives(tmp_path: Path) -> None:
    send = nccl("send", 20, 0.0, 10.0, 10, [0, 1], extra={"Dst Rank": "1"})
    receive = nccl("recv", 20, 0.0, 10.0, 10, [0, 1], extra={"Src Rank": "0"})
    workload = workload_of(ranks_of_files(tmp_path, [send], [receive]))
    Executor(workload).run()
    assert [(one.type, one.peer, one.amount) for one in operations_of(workload)] == [
        ("send", 1, 40)
    ]
    bare = nccl("send", 20, 0.0, 10.0, 10, [0, 1])
    assert "is a message without 'Dst Rank'" in refusal(ranks_of_files(tmp_path, [bare], [receive]))


def test_messages_that_one_kernel_carries(tmp_path: Path) -> None:
    def rank(me: int) -> list[dict[str, Any]]:
        fields = {"In msg nelems": 10, "Out msg nelems": 10, "dtype": "Float", "thread": 3}
        other = str(1 - me)
        return [
            kernel("before", 20, 0.0, 5.0),
            event(
                "cpu_op", "record_param_comms", 1.0, 1.0,
                **{"Collective name": "send", "Dst Rank": other}, **fields,
            ),
            event(
                "cpu_op", "record_param_comms", 2.0, 1.0,
                **{"Collective name": "recv", "Src Rank": other}, **fields,
            ),
            launch(9, 3.0, thread=3),
            nccl("coalesced", 20, 5.0, 10.0, 10, [0, 1], 9),
            kernel("after", 20, 15.0, 5.0),
        ]  # fmt: skip

    workload = workload_of(ranks_of_files(tmp_path, rank(0), rank(1)))
    assert Executor(workload).run() == pytest.approx(10 * US)
    found = operations_of(workload)
    assert [(one.type, one.after) for one in found] == [
        ("compute", ()),
        ("send", (0,)),
        ("receive", (0,)),
        ("compute", (1, 2)),
        ("compute", ()),
    ]


def test_groups_of_ranks_and_their_purpose(tmp_path: Path) -> None:
    rows = []
    purpose = {"Process Group Description": "mesh_tp"}
    for rank in range(4):
        pair = [rank // 2 * 2, rank // 2 * 2 + 1]
        tensor = nccl("allreduce", 20, 0.0, 1.0, 1, pair, group="3", extra=purpose)
        rows.append([tensor, nccl("allreduce", 21, 1.0, 1.0, 1, [0, 1, 2, 3])])
    workload = workload_of(ranks_of_files(tmp_path, *rows))
    assert workload.groups == [("mesh_tp", [[0, 1], [2, 3]]), ("all ranks", [[0, 1, 2, 3]])]
    assert workload.program_of == [0, 0, 0, 0]


def test_abbreviated_lists_of_ranks(tmp_path: Path) -> None:
    one = nccl("allreduce", 20, 0.0, 1.0, 1, range(0, 128, 2), group="5")
    one["args"]["Process Group Ranks"] = "[0, 2, 4, ..., 126]"
    path = write_kineto(tmp_path / "rank0.json", [one], world=128)
    workload = workload_of(path, replicate=128)
    assert workload.groups == [
        ("64 ranks, stride 2", [list(range(0, 128, 2)), list(range(1, 128, 2))])
    ]
    one["args"]["Process Group Ranks"] = "[0, 2, 4, ..., 127]"
    write_kineto(path, [one], world=128)
    assert "process group '5' of 64 ranks is not listed in full" in refusal(path, replicate=128)
    groups = [{"pg_name": "5", "ranks": list(range(64)), "pg_desc": "dp"}]
    write_kineto(path, [one], world=128, groups=groups)
    assert workload_of(path, replicate=128).groups[0][0] == "dp"


# ---- Files


def test_ranks_are_those_of_the_files(tmp_path: Path) -> None:
    some = [nccl("allreduce", 20, 0.0, 1.0, 1, [0, 1])]
    write_kineto(tmp_path / "x_rank1.json", some, None, None)
    write_kineto(tmp_path / "x_rank0.json", some, None, None)
    assert len(workload_of(tmp_path).program_of) == 2
    (tmp_path / "x_rank0.json").unlink()
    assert "rank 0 of 2 missing" in refusal(tmp_path)
    write_kineto(tmp_path / "y.json", some, 1, 2)
    assert "rank 1 has two files, x_rank1.json and y.json" in refusal(tmp_path)


def test_one_file_of_many_ranks(tmp_path: Path) -> None:
    some = [nccl("allreduce", 20, 0.0, 1.0, 1, [0, 1, 2, 3])]
    path = write_kineto(tmp_path / "t.json", some, 0, 4)
    assert refusal(path) == (
        f"trace: {path}: ranks 1, 2, 3 of 4 missing: found the file of 1; add their files, or use"
        " replicate 4 if all ranks do the same"
    )
    assert workload_of(path, replicate=4).program_of == [0, 0, 0, 0]


def test_kernels_without_collectives_metadata(tmp_path: Path) -> None:
    old = kernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", 20, 5.0, 1.0)
    path = write_kineto(tmp_path / "t.json", [old], world=2)
    found = refusal(path, replicate=2)
    assert (
        "rank 0: kernel 0 (ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem), at 5.000" in found
    )
    assert "PyTorch 2.3 and later" in found
    sizeless = nccl("allreduce", 20, 0.0, 1.0, 1, [0, 1], dtype="Quaternion")
    write_kineto(path, [sizeless], world=2)
    assert "lacks sizes (found dtype 'Quaternion'" in refusal(path, replicate=2)


def test_no_kernels(tmp_path: Path) -> None:
    path = write_kineto(tmp_path / "t.json", [event("cpu_op", "aten::mm", 0.0, 1.0)])
    assert "found no kernel of a GPU; profile with ProfilerActivity.CUDA" in refusal(path)
    write_kineto(path, [kernel("a", 7, 0.0, 0.0)])
    assert "no kernel of 1 ranks takes time" in refusal(path)
    broken = kernel("a", 7, 0.0, 0.0)
    broken["ts"] = "soon"
    write_kineto(path, [broken])
    assert "event 'a' at soon us lacks a number" in refusal(path)


def test_collectives_in_different_order(tmp_path: Path) -> None:
    first = [nccl("allreduce", 20, 0.0, 1.0, 1, [0, 1]), nccl("reduce", 20, 1.0, 1.0, 1, [0, 1])]
    second = [nccl("reduce", 20, 0.0, 1.0, 1, [0, 1]), nccl("allreduce", 20, 1.0, 1.0, 1, [0, 1])]
    found = refusal(ranks_of_files(tmp_path, first, second))
    assert "rank 0: kernel 0 (ncclDevKernel_allreduce_RING_LL): 'allreduce' of 4 bytes" in found
    assert "meets 'reduce' of 4 bytes of rank 1: kernel 0" in found


def test_blocks_of_any_size_give_the_same_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nasty = '}, {"ts": [1, {}]} ] } \\ " ]} {'
    events = [
        kernel(f"{nasty}{number}", 7, 10.0 * number, 5.0, note=[{"a": 1}, {"b": 2}])
        for number in range(60)
    ]
    path = write_kineto(tmp_path / "t.json", events)
    whole = [short(one) for one in operations_of(workload_of(path))]
    assert whole == [("compute", 0, 595.0, ())]
    read = source.Source.read
    for block in (1, 7, 64, 1000, 4096):
        monkeypatch.setattr(
            source.Source, "read", lambda self, most=0, size=block: read(self, size)
        )
        assert [short(one) for one in operations_of(workload_of(path))] == whole


def test_truncated_files(tmp_path: Path) -> None:
    path = write_kineto(tmp_path / "t.json", [kernel("a", 7, 0.0, 1.0)] * 3)
    content = path.read_bytes()
    end = content.index(b'"traceName"')
    for size in range(content.index(b"traceEvents") - 3, end, 3):
        path.write_bytes(content[:size])
        assert str(path) in refusal(path)
    path.write_bytes(content[: end - 40])
    assert "truncated: the JSON text ends within an array" in refusal(path)


def test_events_as_the_document_itself(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps([{"a": 1}, {"a": 2}]))
    with source.Source(path) as opened:
        array = json_stream.ArrayReader(opened, "traceEvents")
        import msgspec

        found = [
            one
            for some in array.objects(msgspec.json.Decoder(list[dict[str, int]]))
            for one in some
        ]
    assert found == [{"a": 1}, {"a": 2}]
