# SPDX-License-Identifier: LGPL-2.1-only
"""Multicast Allgathers in iterations, compared with the same call of an MPI program, and FSDP."""

from pathlib import Path

import pytest

import weft
from weft import _core
from weft.iterations.iteration import Conditions, Iteration, simulate
from weft.training.run import load_training
from weft.training.workload import Workload

NODES = 8
ONE_GPU_A_NODE = (
    *("topology.gpus=1", "topology.nics=1", "nccl.gpus_per_node=1"),
    *(f"topology.nodes={NODES}", f"topology.nodes_per_unit={NODES}"),
)


def gathered(block: int, chains: int) -> Iteration:
    """Return an Allgather over all nodes with blocks of this many bytes."""
    program = _core.WorkloadProgram(True)
    program.collective(0, 0, "allgather", float(block * NODES))
    workload = Workload([program], [0] * NODES, [("data", [list(range(NODES))])])
    changes = (*ONE_GPU_A_NODE, f"multicast.chains={chains}")
    return simulate(
        workload, Conditions(fabric="superpod-h100-32", changes=changes, multicast=True)
    )


@pytest.mark.parametrize("chains", [1, NODES])
@pytest.mark.parametrize("block", [1 << 20, 1 << 24])
def test_takes_the_time_of_the_protocol_in_an_mpi_program(block: int, chains: int) -> None:
    changes = dict(one.split("=") for one in (*ONE_GPU_A_NODE, f"multicast.chains={chains}"))
    bench = weft.bench(
        *("allgather", "superpod-h100-32", NODES),
        set=changes,
        sizes=[block],
        modes=["multicast"],
        iterations=1,
    )
    longest_us = bench["max_us"][0]
    its = gathered(block, chains)
    assert its.algorithms == {"multicast": 1}
    assert its.time_s * 1e6 == pytest.approx(longest_us, rel=2e-4)
    wire = block * (1 + 78 / 4096)
    roots = NODES if chains == 1 else NODES - 1
    # A barrier of 3 rounds, activations, and the handshake; then the route of the last packet,
    # which crosses both NVSwitches.
    messages = 3 + (NODES - 1 if chains == 1 else 0) + 1
    latency = messages * (2 * 500e-9 + 130e-9) + 2 * 525e-9 + 130e-9 + 2 * 100e-9
    assert its.time_s == pytest.approx(roots * wire / 50e9 + latency, rel=1e-9)


def test_each_block_crosses_each_link_once() -> None:
    its = gathered(1 << 20, 1)
    wire = (1 << 20) * (1 + 78 / 4096)
    leaf = next(one for one in its.links if one.name == "nic--leaf")
    assert leaf.bytes == pytest.approx(NODES * wire * (1 + NODES - 1), rel=1e-9)


def test_fsdp_between_nodes_gains(tmp_path: Path) -> None:
    file = tmp_path / "fsdp.toml"
    file.write_text(
        """
like = "llama-3-8b"
[parallel]
tensor = 8
data = 8
sharding = "fsdp"
[batch]
sequence = 2048
global = 8
[train]
gpu = "h100-sxm"
""",
        encoding="utf-8",
    )
    training = load_training(file)
    rings, multicast = (
        simulate(
            training.workload,
            Conditions(
                fabric="superpod-h100-32", changes=("nccl.NCCL_ALGO=ring",), multicast=multicast
            ),
        )
        for multicast in (False, True)
    )
    assert "multicast" not in rings.algorithms
    assert multicast.algorithms["multicast"] > 0
    cables = [
        next(one for one in its.links if one.name == "nic--leaf") for its in (rings, multicast)
    ]
    assert cables[1].bytes < 1.03 * cables[0].bytes


def test_faults_are_refused(tmp_path: Path) -> None:
    faults = tmp_path / "faults.toml"
    faults.write_text('[[fault]]\nlink = "node-00.gpu-0--node-00.nvswitch"\nat = "1ms"\n', "utf-8")
    with pytest.raises(
        (weft.WeftError, _core.UserError), match="without messages that faults could cut"
    ):
        weft.train(
            *("llama-3-8b", "superpod-h100-32"),
            gpu="h100-sxm",
            model_changes={"parallel.tensor": 8, "parallel.data": 2, "batch.global": 2},
            faults=faults,
            multicast=True,
        )
