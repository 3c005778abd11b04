# SPDX-License-Identifier: LGPL-2.1-only
"""Ranks on GPUs: placement, and the error for each impossible placement."""

from pathlib import Path

import pytest

import weft
from tests.support import compiled
from tests.support.jobs import job, part
from tests.support.places import TESTS
from weft import _core

GPUS = 256
"""GPUs of superpod-h100-32, 8 per node."""


@pytest.fixture(scope="module")
def jobs() -> str:
    return str(compiled.program(TESTS / "smpi" / "jobs.c"))


def test_a_rank_is_a_gpu_in_order(jobs: str) -> None:
    tables = [job("all", jobs, "sum", 1, ranks=10)]
    record = weft.run_jobs(tables, fabric="superpod-h100-32", offload="off")
    expected = [f"node-{rank // 8:02}.gpu-{rank % 8}" for rank in range(10)]
    assert part(record, "all").hosts == expected


def test_jobs_name_gpus(jobs: str) -> None:
    tables = [
        job("left", jobs, "sum", 1, hosts="node-00.gpu-[0-3]"),
        job("right", jobs, "sum", 1, hosts="node-00.gpu-[4-7]"),
    ]
    record = weft.run_jobs(tables, fabric="superpod-h100-32", offload="off")
    assert part(record, "right").hosts == [f"node-00.gpu-{gpu}" for gpu in range(4, 8)]
    tables[1]["hosts"] = "node-00.gpu-[3-6]"
    with pytest.raises(weft.WeftError, match=r"hosts: job left occupies node-00\.gpu-3; choose"):
        weft.run_jobs(tables, fabric="superpod-h100-32")


@pytest.mark.parametrize(
    ("other", "links"),
    [
        (4, {"node-0.gpu-0--node-0.gpu-4.up"}),
        (5, {"node-0.gpu-0--node-0.pcie.up", "node-0.gpu-5--node-0.pcie.down"}),
    ],
)
def test_neighbours_use_their_direct_link_and_other_gpus_pcie(
    jobs: str, other: int, links: set[str]
) -> None:
    size = 1 << 20
    tables = [job("one", jobs, "flow", size, ranks=2, hosts=f"node-0.gpu-[0,{other}]")]
    record = weft.run_jobs(tables, fabric="dgx-1", offload="off")
    used = part(record, "one").to_json()["links"]
    assert {link["name"] for link in used if link["bytes"] >= size} == links


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"ranks": GPUS + 1},
            "ranks: found 257 ranks; fabric superpod-h100-32 has 256 hosts of 1 core, so that at"
            " most 256 are allowed",
        ),
        (
            {"ranks": 8, "ppn": 2},
            "ppn: found 2; fabric superpod-h100-32 has 256 hosts of 1 core, so that 8 ranks need"
            " from 1 to 1 ranks per host",
        ),
    ],
)
def test_ranks_without_a_gpu_are_refused(jobs: str, options: dict[str, int], message: str) -> None:
    with pytest.raises(weft.WeftError) as error:
        weft.run(jobs, ["sum", "1"], fabric="superpod-h100-32", **options)  # type: ignore[arg-type]
    assert str(error.value).startswith(message)


REST = """
[host]
preset = "xeon-8360"
[nic]
preset = "connectx-6-dx"
[link]
bandwidth = "400Gbps"
latency = "1us"
[switch]
preset = "l2"
"""


@pytest.mark.parametrize(
    ("topology", "message"),
    [
        (
            # The second GPU has links only to the first GPU.
            'kind = "custom"\nhosts = ["gpu-0", "gpu-1", "gpu-2"]\nswitches = ["leaf"]\n'
            'cables = [{between = ["gpu-0", "gpu-1"]}, {between = ["gpu-0", "leaf"]},'
            ' {between = ["gpu-2", "leaf"]}]',
            '[topology] cables: there is no route from "gpu-1" to',
        ),
        (
            'kind = "custom"\nhosts = ["gpu-0", "gpu-1"]\nswitches = ["rail-0", "rail-0"]\n'
            'cables = [{between = ["gpu-0", "rail-0"]}, {between = ["gpu-1", "rail-0"]}]',
            '[topology] switches: found "rail-0" twice; allowed: unique names',
        ),
        (
            'kind = "gpu_cluster"\nnodes = 4\ngpus = 2\nnodes_per_unit = 2\nnetwork = "rail-only"',
            "[topology] nodes_per_unit: makes 2 units that no spines connect",
        ),
    ],
)
def test_gpus_without_a_way_and_rails_named_twice_are_refused(
    tmp_path: Path, topology: str, message: str
) -> None:
    path = tmp_path / "gpus.toml"
    path.write_text(f'[fabric]\nname = "gpus"\n[topology]\n{topology}\n{REST}')
    with pytest.raises(_core.UserError) as error:
        _core.load_fabric(str(path))
    assert message in str(error.value)
