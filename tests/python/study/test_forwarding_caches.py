# SPDX-License-Identifier: LGPL-2.1-only
"""`weft cache`: studies of forwarding caches, job sizes, and wrong input."""

import csv
import gzip
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

import weft as api
from tests.support.simulated import WEFT
from weft import _core
from weft.base import user_files
from weft.base.errors import WeftError
from weft.study.forwarding import forwarding, jobs, placements
from weft.study.forwarding.forwarding import Cache

JOB = "1 0 5 100 {allocated} -1 -1 {requested} -1 -1 1 1 1 -1 1 -1 -1 -1\n"


def weft(*arguments: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    result = subprocess.run(
        [*WEFT, "cache", *arguments], capture_output=True, text=True, check=False
    )
    assert result.returncode == status, result.stderr
    return result


@pytest.mark.slow
def test_the_hash_holds_at_every_switch_of_the_largest_fabric() -> None:
    fabric = _core.load_fabric("fat-tree-65536")
    proof = _core.prove_hash(fabric, "auto")
    assert proof["pairs"] == len(fabric.switches) * 65_536
    assert not proof["misroutes"]
    assert not proof["crowded"]
    assert proof["most_tags"] == 64


@pytest.mark.parametrize(
    ("cube", "tags"),
    # The host's tag and two tags per dimension, whose directions coincide if k is 2.
    [("16-ary-4-cube", 9), ("3-ary-2-mesh", 5), ("2-ary-3-cube", 4), ("5-ary-1-cube", 3)],
)
def test_cubes_have_a_tag_for_each_of_their_ports(cube: str, tags: int) -> None:
    size, _, dimensions, *_ = cube.replace("-ary-", " ary ").replace("-", " ").split()
    said = weft("hash", "--cube", cube).stdout
    assert f"{int(size) ** int(dimensions):,} hosts: hash cube" in said
    assert f"at most {tags} tags at a switch, no more than it has ports" in said


def test_addresses_are_coordinates_and_tags_are_cables(tmp_path: Path) -> None:
    table = tmp_path / "addresses.csv"
    said = weft("hash", "torus-4x4x4x4", "--switch", "switch-000", "--csv", str(table)).stdout
    assert "Tags of switch-000" in said
    title, *lines = table.read_text(encoding="utf-8").splitlines()
    assert title == "# Addresses of torus-4x4x4x4, hash cube"
    addresses = [int(row["address"], 16) for row in csv.DictReader(lines)]
    assert sorted(addresses) == list(range(256))  # four digits of two bits each
    fabric = _core.load_fabric("torus-4x4x4x4")
    tags = _core.forwarding_tags(fabric, "cube", 0)
    assert len(tags) == 9
    assert sum(tag["hosts"] for tag in tags) == 256
    for tag in tags:
        assert tag["first"] in fabric.hosts
        assert tag["link"] in said


def test_fabrics_with_caches_are_checked_with_their_hashes() -> None:
    kind = ("--set", "switch.forwarding.kind=cache", "--set", "switch.forwarding.hit_latency=1ns")
    checked = subprocess.run(
        [*WEFT, "fabric", "check", "torus-4x4x4x4", *kind, "--set", "switch.forwarding.entries=16"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "hash cube of forwarding caches: 65,536 pairs" in checked.stdout


@pytest.mark.slow
def test_crc_hits_nearly_nothing_of_what_hosts_send_on_the_largest_torus() -> None:
    study = forwarding.capacity_of_tori(Cache(), [16], 4)
    hits = {(row[2], row[3]): float(row[4]) for row in study.rows}
    assert hits["crc", "host"] < 0.04
    assert hits["crc", "dimension 0"] < 0.1
    misses = {row[2]: row[6:8] for row in study.rows if row[3] == "all"}
    assert misses["cube"] == (0, 0)


def test_a_study_is_the_same_each_time(tmp_path: Path) -> None:
    for name in ("one.csv", "two.csv"):
        weft("capacity", "--sizes", "4", "--csv", str(tmp_path / name))
    text = (tmp_path / "one.csv").read_text()
    assert text == (tmp_path / "two.csv").read_text()
    title, *lines = text.splitlines()
    assert title.startswith("# Capacity misses")
    rows: list[dict[str, Any]] = list(csv.DictReader(lines))
    shares = [
        sum(float(row[part]) for part in ("hits", "initial", "capacity", "conflict"))
        for row in rows
    ]
    assert shares == pytest.approx([1] * len(shares), abs=1e-5)


def test_throughput_falls_with_the_hits() -> None:
    """84 B per 4 ns if all lookups miss, per 0.72 ns if all hit, and per their mean in between."""
    cache = Cache()
    assert [cache.throughput_Gbps(hits) for hits in (0, 0.5, 1)] == [168, 285, 933]
    study = forwarding.capacity_of_tori(Cache(entries=4), [4], 4)
    by_port = {(row[2], row[3]): (float(row[4]), float(row[-1])) for row in study.rows}
    hits, rate = by_port["crc", "host"]
    assert hits == pytest.approx(0.016, abs=0.005)
    assert rate == pytest.approx(170, abs=2)
    assert by_port["cube", "dimension 3"][1] > 930


def test_jobs_of_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "site.swf"
    sizes = [(4, 8), (0, 8), (-1, -1), (4, 4)]  # allocated, otherwise requested, otherwise unknown
    lines = (JOB.format(allocated=a, requested=r) for a, r in sizes)
    path.write_text("; UnixStartTime: 0\n" + "".join(lines))
    assert jobs.read_jobs(path) == {"site.swf": {4: 2, 8: 1}}
    assert jobs.distribution(jobs.read_jobs(path)["site.swf"]) == {4: 2 / 3, 8: 1}


def test_archives_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for place, processors in (("one", 4), ("two", 8)):
        (tmp_path / place).mkdir()
        path = tmp_path / place / "site.swf"
        path.write_text(JOB.format(allocated=processors, requested=1))
    files = [tmp_path / place / "site.swf" for place in ("one", "two")]
    assert jobs.read_all(files) == {str(files[0]): {4: 1}, str(files[1]): {8: 1}}
    tables = [tmp_path / name for name in ("a.csv", "b.csv")]
    for path in tables:
        path.write_text("trace,procs,jobs\nsite,2,3\n")
    assert set(jobs.read_all(tables)) == {f"site ({path})" for path in tables}
    with pytest.raises(WeftError, match=r"site\.swf: named twice; name each file once"):
        jobs.read_all([files[0], files[0]])


def test_archives_are_read_as_archives_have_them(tmp_path: Path) -> None:
    path = tmp_path / "site.swf.gz"
    content = gzip.compress(JOB.format(allocated=4, requested=8).encode())
    path.write_bytes(content)
    assert jobs.read_jobs(path) == {"site.swf.gz": {4: 1}}
    path.write_bytes(content[:-12])
    with pytest.raises(WeftError, match=r"site\.swf\.gz: is a damaged gzip file"):
        jobs.read_jobs(path)
    path.write_bytes(gzip.compress(bytes(user_files.MOST_BYTES + 1), compresslevel=1))
    with pytest.raises(WeftError, match=r"site\.swf\.gz: has more than 256 MiB"):
        jobs.read_jobs(path)


@pytest.mark.parametrize("number", ["inf", "nan", "1e400", "-inf"])
def test_processors_that_are_no_number_are_refused(tmp_path: Path, number: str) -> None:
    path = tmp_path / "site.swf"
    path.write_text(JOB.format(allocated=number, requested=4))
    with pytest.raises(WeftError, match=r"site\.swf:1: found '.*'; allowed: a job of 18 numbers"):
        jobs.read_jobs(path)


@pytest.mark.parametrize("row", ["a,4,-3", "a,0,3", "a,4,inf"])
def test_a_row_that_counts_nothing_is_refused(tmp_path: Path, row: str) -> None:
    path = tmp_path / "sizes.csv"
    path.write_text(f"trace,procs,jobs\n{row}\n")
    with pytest.raises(WeftError, match=rf"sizes\.csv:2: found '{row}'; allowed"):
        jobs.read_jobs(path)


def test_a_table_without_jobs_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sizes.csv"
    path.write_text("trace,procs,jobs\na,4,0\n")
    with pytest.raises(WeftError, match="has no job of a known size"):
        jobs.read_jobs(path)


def test_the_shipped_jobs_are_all_there() -> None:
    counts = {name: sizes.total() for name, sizes in jobs.shipped_jobs().items()}
    assert counts == {"hpc2n.swf": 3170, "wagap-2013.swf": 17900}


@pytest.mark.parametrize("line", ["1 2 3\n", JOB.replace("100", "ten"), "x\n"])
def test_a_malformed_job_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "site.swf"
    path.write_text("; comment\n" + JOB.format(allocated=1, requested=1) + line)
    with pytest.raises(WeftError, match=r"site\.swf:3: found '.*'; allowed: a job of 18 numbers"):
        jobs.read_jobs(path)


def test_a_malformed_table_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "sizes.csv"
    path.write_text("# head\ntrace,procs,jobs\na,1,2\na,b,2\n")
    with pytest.raises(WeftError, match=r"sizes\.csv:4: found 'a,b,2'; allowed"):
        jobs.read_jobs(path)


# ---- Jobs on given hosts


def test_scattered_hosts_conflict_where_a_block_does_not(tmp_path: Path) -> None:
    fabric = _core.load_fabric("fat-tree-1024")
    files = {"block": range(256), "scattered": random.Random(1).sample(range(1024), 256)}
    found: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for name, numbers in files.items():
        file = tmp_path / f"{name}.txt"
        file.write_text("\n".join(f"host-[{number:04}]" for number in numbers) + "\n")
        assert placements.of_file(file, fabric) == {name: list(numbers)}
        table = api.cache_placement("fat-tree-1024", hosts=file, entries=256, messages=5000)
        found |= {(row[0], row[2], row[3]): row for row in table.study.rows}
    conflicts = {key: row[7] for key, row in found.items()}
    assert conflicts["block", "crc", "of a host"] == 0
    assert float(conflicts["scattered", "crc", "of a host"]) > 0.1
    assert {conflicts[name, "auto", "of a host"] for name in files} == {0}
    assert {row[6] for row in found.values()} == {0}  # capacity


def test_jobs_of_a_file_are_studied_alone_and_together(tmp_path: Path) -> None:
    file = tmp_path / "jobs.toml"
    file.write_text(
        "".join(
            f'[[jobs]]\nname = "{name}"\nprogram = "./x"\nranks = {ranks}\nplacement = "random"\n'
            for name, ranks in (("a", 100), ("b", 50), ("single", 1))
        )
    )
    table = api.cache_placement("fat-tree-1024", jobs=file, hash=["crc"], messages=2000)
    assert [row[:4] for row in table.study.rows] == [
        ("a", 100, "crc", "of a host"),
        ("a", 100, "crc", "all"),
        ("b", 50, "crc", "of a host"),
        ("b", 50, "crc", "all"),
        ("together", 150, "crc", "all"),
    ]
    written = tmp_path / "table.csv"
    weft("placement", "fat-tree-1024", "--jobs", str(file), "--csv", str(written))
    assert "together,150,crc,all," in written.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("hosts", "message"),
    [
        ("host-5000", "fabric fat-tree-1024 has no host host-5000"),
        ("host-[", 'write names such as "node[1-4,7]"'),
        ("host-0001", "no job has two hosts or more"),
    ],
)
def test_wrong_hosts_are_one_message(tmp_path: Path, hosts: str, message: str) -> None:
    file = tmp_path / "hosts.txt"
    file.write_text(hosts)
    error = weft("placement", "fat-tree-1024", "--hosts", str(file), status=2).stderr
    assert message in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("placement", "fat-tree-1024"), "write one of --hosts and --jobs"),
        (("traffic", "tofino-4", "--ways", "3"), "ways: found 3 ways of 2048 entries; allowed"),
        (("ways", "--ways", "2,x"), "found '2,x'; allowed: whole numbers"),
        (("ways", "--ways", "3"), "ways: found 3 ways of 2048 entries; allowed"),
        (("traffic", "tofino-4", "--hash", "cube"), "not the hash of the fabric's topology"),
        (("capacity", "--sizes", "64"), "found 64, which makes a torus of 16,777,216 hosts"),
        (("trace", "nowhere", "--fabric", "tofino-4"), "nowhere is not a trace"),
        (("jobs", "nowhere.swf"), "nowhere.swf: cannot be read"),
        (("rate", "--latency", "nan"), "--latency"),
        (("ways", "--tcam-interval", "inf"), "--tcam-interval"),
        (
            ("hash", "torus-4x4x4x4", "--switch", "x"),
            "--switch: found 'x', which is not a switch of torus-4x4x4x4",
        ),
        (("hash", "--cube", "4-ary-13-cube"), "4-ary 13-cube; allowed: at most 16777216 hosts"),
        (("hash", "--cube", "1-ary-4-cube"), "found '1-ary-4-cube'; allowed: K-ary-N-cube"),
        (("hash", "--cube", "4-ary-4-cube", "--switch", "x"), "--switch: allowed only with"),
        (("hash",), "give either a fabric or --cube"),
    ],
)
def test_wrong_input_is_one_message(arguments: tuple[str, ...], message: str) -> None:
    error = weft(*arguments, status=2).stderr
    assert message in error
    assert "Traceback" not in error
