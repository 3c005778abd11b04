# SPDX-License-Identifier: LGPL-2.1-only
"""The [routing] table: equal results under every policy, links used by messages, seeds."""

import json
from pathlib import Path
from typing import Any

import pytest

from studies.routing import HERE, POLICIES
from tests.support import compiled
from tests.support.places import TESTS
from tests.support.simulated import Result, run_command, weft_command

FAT_TREE = 'kind = "fat_tree"\ndown = [4, 4]\nup = [1, 4]'
DRAGONFLY = 'kind = "dragonfly"\ngroups = 4\nrouters = 4\nhosts = 1'
FABRIC = """
[fabric]
name = "routed"
[topology]
{topology}
[routing]
{routing}
[host]
preset = "xeon-8360"
speed = "1Gf"
[nic]
preset = "connectx-6-dx"
[link]
bandwidth = "10GBps"
latency = "1us"
[switch]
preset = "tofino"
{more}
"""
RANKS = 16
BYTES = 1_000_000
ENVELOPE = 16


def fabric(
    directory: Path,
    routing: str = "",
    topology: str = FAT_TREE,
    more: str = "",
    name: str = "routed",
) -> str:
    """Write a fabric file."""
    path = directory / f"{name}.toml"
    path.write_text(FABRIC.format(topology=topology, routing=routing, more=more))
    return str(path)


def run(
    directory: Path, program: Path, arguments: tuple[str, ...], on: str, *options: str
) -> Result:
    """Run a program, and return its output with the record."""
    record = directory / "record.json"
    record.unlink(missing_ok=True)
    command = weft_command(
        program, *arguments, on=on, ranks=RANKS, options=("-q", "--json", str(record), *options)
    )
    result = run_command(command)
    found = json.loads(record.read_text()) if record.exists() else {}
    return Result(result.status, result.stdout, result.stderr, found)


def links(result: Result) -> dict[str, float]:
    """Return the bytes on each link that was used."""
    assert result.status == 0, result.stderr
    return {row["name"]: row["bytes"] for row in result.record["links"]}


def simulated(record: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a record that do not depend on the machine."""
    real = {"wall_time_s", "cpu_time_s", "peak_memory_bytes", "command"}
    return {key: value for key, value in record.items() if key not in real}


@pytest.fixture(scope="module")
def exchanges() -> Path:
    return compiled.program(HERE / "routing.c")


@pytest.fixture(scope="module")
def checked() -> Path:
    return compiled.program(TESTS / "smpi" / "random_messages.c")


@pytest.mark.parametrize("topology", [FAT_TREE, DRAGONFLY], ids=["fat_tree", "dragonfly"])
def test_results_are_equal_under_every_policy(checked: Path, tmp_path: Path, topology: str) -> None:
    outputs = set()
    for policy in (*POLICIES, "adaptive-global"):
        if policy == "spray" and topology != FAT_TREE:
            continue
        on = fabric(tmp_path, f'policy = "{policy}"', topology)
        result = run(tmp_path, checked, ("7", "3"), on)
        assert result.status == 0, result.stderr
        told = [line.partition(", clocks ")[0] for line in result.lines]
        assert all(" 0 wrong" in line for line in told)
        outputs.add("\n".join(told))
    assert len(outputs) == 1


def test_without_the_table_routes_are_static(exchanges: Path, tmp_path: Path) -> None:
    arguments = ("permutation", str(BYTES), "3")
    plain = Path(fabric(tmp_path, name="plain"))
    plain.write_text(plain.read_text().replace("[routing]\n", ""))
    without = run(tmp_path, exchanges, arguments, str(plain))
    static = run(tmp_path, exchanges, arguments, fabric(tmp_path, 'policy = "static"\nseed = 9'))
    assert without.stdout == static.stdout
    assert links(without) == links(static)


def test_the_record_counts_the_links_of_the_chosen_route(exchanges: Path, tmp_path: Path) -> None:
    spines = set()
    for seed in range(6):
        on = fabric(tmp_path, f'policy = "ecmp"\nseed = {seed}')
        used = links(run(tmp_path, exchanges, ("alone", str(BYTES), "1"), on))
        # Only the exchange between the first and the last host uses large messages.
        large = {name: bytes_ for name, bytes_ in used.items() if bytes_ >= BYTES}
        up = {name for name in large if name.startswith("level1-0--") and name.endswith(".up")}
        down = {name for name in large if name.startswith("level1-3--") and name.endswith(".down")}
        assert len(large) == 8 and len(up) == len(down) == 1
        ((spine,), (same,)) = (
            {name.split("--")[1].split(".")[0] for name in set_} for set_ in (up, down)
        )
        assert spine == same  # the message returns over the same spine
        spines.add(spine)
    assert len(spines) > 1


def test_each_policy_carries_all_bytes(exchanges: Path, tmp_path: Path) -> None:
    arguments = ("permutation", str(BYTES), "2")
    ups: dict[str, list[float]] = {}
    for policy in POLICIES:
        used = links(run(tmp_path, exchanges, arguments, fabric(tmp_path, f'policy = "{policy}"')))
        ups[policy] = [
            sum(
                bytes_
                for name, bytes_ in used.items()
                if name.startswith(f"level1-{leaf}--") and name.endswith(".up")
            )
            for leaf in range(4)
        ]
        if policy == "spray":
            for leaf in range(4):
                equal = {
                    round(used[f"level1-{leaf}--level2-{spine}.{way}"])
                    for spine in range(4)
                    for way in ("up",)
                }
                assert len(equal) == 1
    for found in ups.values():
        assert found == pytest.approx(ups["static"], rel=1e-12)


def test_sprayed_permutations_of_a_full_fat_tree_do_not_contend(
    exchanges: Path, tmp_path: Path
) -> None:
    alone, sprayed, static = (
        float(run(tmp_path, exchanges, (kind, str(BYTES), "1"), on).stdout.split()[1])
        for kind, on in (
            ("alone", fabric(tmp_path)),
            ("permutation", fabric(tmp_path, 'policy = "spray"', name="spray")),
            ("permutation", fabric(tmp_path, name="static")),
        )
    )
    assert sprayed == pytest.approx(alone, rel=1e-3)
    assert static > 1.3 * alone


@pytest.mark.parametrize("policy", ["ecmp", "ecmp-message", "adaptive", "adaptive-global"])
def test_equal_seeds_give_equal_records(exchanges: Path, tmp_path: Path, policy: str) -> None:
    arguments = ("permutation", str(BYTES), "4")

    def record(seed: int) -> dict[str, Any]:
        on = fabric(tmp_path, f'policy = "{policy}"\nseed = {seed}')
        result = run(tmp_path, exchanges, arguments, on)
        assert result.status == 0, result.stderr
        return simulated(result.record)

    first = record(1)
    assert first == record(1)
    assert first["links"] != record(2)["links"]


def test_adaptive_routes_avoid_the_cable_between_groups(exchanges: Path, tmp_path: Path) -> None:
    arguments = ("shift", str(BYTES), "1", "4")
    minimal, adaptive = (
        float(
            run(
                tmp_path, exchanges, arguments, fabric(tmp_path, f'policy = "{policy}"', DRAGONFLY)
            ).stdout.split()[1]
        )
        for policy in ("static", "adaptive-global")
    )
    assert adaptive < 0.8 * minimal


def test_jobs_count_the_links_of_their_routes(exchanges: Path, tmp_path: Path) -> None:
    on = fabric(tmp_path, 'policy = "spray"')
    jobs = tmp_path / "jobs.toml"
    jobs.write_text(
        f"""
[[jobs]]
name = "first"
program = "{exchanges}"
arguments = ["permutation", "{BYTES}", "1"]
ranks = 8
[[jobs]]
name = "second"
program = "{exchanges}"
arguments = ["permutation", "{BYTES}", "2"]
ranks = 8
"""
    )
    record = tmp_path / "record.json"
    command = [
        *weft_command(Path("-"), on=on)[:3],
        *("run", "--fabric", on, "--jobs", str(jobs), "-q", "--json", str(record)),
    ]
    result = run_command(command)
    assert result.status == 0, result.stderr
    found = json.loads(record.read_text())
    total = {row["name"]: row["bytes"] for row in found["links"]}
    of_jobs: dict[str, float] = {}
    for job in found["jobs"]:
        for row in job["links"]:
            of_jobs[row["name"]] = of_jobs.get(row["name"], 0) + row["bytes"]
    assert of_jobs == pytest.approx(total)


@pytest.mark.parametrize(
    ("routing", "more", "topology", "words"),
    [
        ('policy = "emcp"', "", FAT_TREE, 'found "emcp"; did you mean "ecmp"?'),
        ('polici = "ecmp"', "", FAT_TREE, 'did you mean "policy"?'),
        ("seed = -1", "", FAT_TREE, "seed"),
        ('policy = "adaptive"\nbias = -1', "", FAT_TREE, "bias"),
        ('policy = "spray"', "", DRAGONFLY, "is defined on fat trees and stars only"),
        (
            'policy = "spray"',
            '[[shared]]\nlinks = ["host-00.up"]\nbandwidth = "1GBps"',
            FAT_TREE,
            "excludes [[shared]]",
        ),
        (
            'policy = "spray"',
            '[[links]]\nmatch = "level1-0--level2-1"\nbandwidth = "1GBps"',
            FAT_TREE,
            'those of "level1-0--level2-0.up" and "level1-0--level2-1.up" differ',
        ),
        (
            'policy = "spray"',
            '[[noise.link]]\njitter = "1us"\ndistribution = "fixed"',
            FAT_TREE,
            "excludes [[noise.link]]",
        ),
        (
            'policy = "spray"',
            '[switch.forwarding]\nkind = "cache"\nhit_latency = "1ns"\ntcam_latency = "10ns"',
            FAT_TREE,
            "excludes caches and intervals",
        ),
    ],
)
def test_errors_of_the_table(
    exchanges: Path, tmp_path: Path, routing: str, more: str, topology: str, words: str
) -> None:
    on = fabric(tmp_path, routing, topology, more)
    result = run(tmp_path, exchanges, ("alone", "1", "1"), on)
    assert result.status != 0
    (line,) = result.messages
    assert "routing" in line and words in line


@pytest.mark.parametrize("policy", ["adaptive", "adaptive-global", "spray"])
def test_smpi_s_messages_cannot_follow_loads(exchanges: Path, tmp_path: Path, policy: str) -> None:
    on = fabric(tmp_path, f'policy = "{policy}"')
    result = run(tmp_path, exchanges, ("alone", "1", "1"), on, "--messages", "smpi")
    assert result.status != 0
    assert "needs weft's own network" in result.stderr


def test_smpi_s_messages_follow_ecmp(exchanges: Path, tmp_path: Path) -> None:
    arguments = ("permutation", str(BYTES), "2")
    on = fabric(tmp_path, 'policy = "ecmp"\nseed = 3')
    assert links(run(tmp_path, exchanges, arguments, on)) == pytest.approx(
        links(run(tmp_path, exchanges, arguments, on, "--messages", "smpi"))
    )
