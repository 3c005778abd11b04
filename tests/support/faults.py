# SPDX-License-Identifier: LGPL-2.1-only
"""Fault files for tests, and random programs that must survive random faults."""

import random
from pathlib import Path
from typing import Any

import weft
from tests.support.jobs import job, said
from weft.runs.record import Record

RECOVERY = 'detection = "50us"\nconvergence = "200us"\ntimeout = "100us"\n'
POLICIES = ("resend", "rebuild", "hosts")
TREE = """
[fabric]
name = "tree"

[topology]
kind = "fat_tree"
down = [4, 4]
up = [1, 4]

[host]
preset = "xeon-8360"

[nic]
preset = "connectx-6-dx"

[link]
bandwidth = "100Gbps"
latency = "0.94us"

[switch]
preset = "tofino"
"""
SPRAYED = TREE + '\n[routing]\npolicy = "spray"\n'
FABRICS = ("tofino-16", "tree", "sprayed", "fat-tree-8", "torus-3x3", "dragonfly-12")
_PLACES = (("link", "*"), ("link", "*[02468]"), ("switch", "*"), ("nic", "host-*[13]"))
_KINDS = ("down", "down", "down", "slow", "lossy", "state")


def fault_file(folder: Path, *tables: str, recovery: str = RECOVERY) -> str:
    """Write a fault file with tables of these keys."""
    path = folder / "faults.toml"
    path.write_text(
        f"[recovery]\n{recovery}" + "".join(f"[[fault]]\n{table}\n" for table in tables)
    )
    return str(path)


def random_faults(draw: random.Random, folder: Path) -> str:
    """Write random faults, all of which are eventually repaired."""
    recovery = (
        f'detection = "{draw.randint(0, 50)}us"\nconvergence = "{draw.randint(0, 200)}us"\n'
        f'timeout = "{draw.randint(5, 100)}us"\nretries = 100000\n'
        f'collectives = "{draw.choice(POLICIES)}"\ngo_back = "{draw.choice([0, 16])}KiB"\n'
    )
    tables = [_random_table(draw) for _ in range(draw.randint(1, 4))]
    return fault_file(folder, *tables, recovery=recovery)


def _random_table(draw: random.Random) -> str:
    kind = draw.choice(_KINDS)
    places = {"down": _PLACES, "state": [("switch", "*")]}.get(kind, [("link", "*"), ("nic", "*")])
    place, pattern = draw.choice(places)
    table = f'{place} = "{pattern}"\nkind = "{kind}"\n'
    if kind == "slow":
        table += f'bandwidth = "{draw.randint(1, 99)}%"\n'
    if kind == "lossy":
        table += f'loss = "{draw.choice(["0.1", "1", "20"])}%"\n'
    start = draw.randint(0, 400)
    if draw.random() < 0.5:
        until = "" if kind == "state" else f'until = "{start + draw.randint(1, 1500)}us"\n'
        return f'{table}at = "{start}us"\n{until}'
    repair = "" if kind == "state" else f'repair = "{draw.randint(1, 500)}us"\n'
    return (
        f'{table}mtbf = "{draw.randint(200, 5000)}us"\n{repair}end = "3ms"\n'
        f"seed = {draw.randint(0, 99)}"
    )


def survive_random_faults(seed: int, program: str, folder: Path) -> Record:
    """Run tests/smpi/faults.c with random faults, and compare results with a faultless run.

    Returns:
        The record of the run with faults.
    """
    draw = random.Random(seed)
    fabric = draw.choice(FABRICS)
    options: dict[str, Any] = {
        "fabric": _fabric(fabric, folder),
        "offload": draw.choice(["off", "stream", "stream", "message", "multicast"]),
        "timeout": 240,
    }
    if draw.random() < 0.25:
        return _survive_as_jobs(draw, program, folder, options)
    options |= {"ranks": draw.choice([4, 6, 8]), "ppn": draw.choice([1, 2])}
    arguments = _arguments(draw)
    expected = weft.run(program, arguments, **options).check().output
    record = weft.run(program, arguments, faults=random_faults(draw, folder), **options)
    assert record.outcome.kind == "completed", record.outcome.message
    assert record.output == expected
    return record


def _fabric(name: str, folder: Path) -> str:
    """Return the name or file of a fabric."""
    texts = {"tree": TREE, "sprayed": SPRAYED}
    if name not in texts:
        return name
    path = folder / f"{name}.toml"
    path.write_text(texts[name])
    return str(path)


def _survive_as_jobs(
    draw: random.Random, program: str, folder: Path, options: dict[str, Any]
) -> Record:
    """Do the same with several jobs; one of them may lose a host, which ends only this job."""
    jobs = [
        job(
            f"j{number}",
            program,
            *_arguments(draw),
            ranks=draw.randint(2, 4),
            start=f"{draw.choice([0, 100])}us",
        )
        for number in range(2)
    ]
    expected = weft.run_jobs(jobs, **options).check()
    path = random_faults(draw, folder)
    if draw.random() < 0.3:
        with Path(path).open("a") as file:
            file.write('[[fault]]\nhost = "*"\nmtbf = "20ms"\nrepair = "1ms"\nend = "1ms"\n')
    record = weft.run_jobs(jobs, faults=path, **options)
    for one in record.jobs or ():
        if one.outcome.kind == "host-failure":
            assert "failed at" in one.outcome.message
            continue
        assert one.outcome.kind == "completed", one.outcome
        assert said(record, one.name) == said(expected, one.name)
    return record


def _arguments(draw: random.Random) -> list[str]:
    return ["mixed", str(draw.choice([4, 4096, 65536])), str(draw.randint(1, 4))]
