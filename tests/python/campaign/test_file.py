# SPDX-License-Identifier: LGPL-2.1-only
"""Abbreviations in campaign files, and the inputs that identify a result."""

import shutil
from pathlib import Path

import pytest

from tests.support import simulated
from tests.support.campaign_files import LATENCY, Write, head, written
from tests.support.campaign_files import weft as run_weft
from weft.base import paths
from weft.base.errors import WeftError
from weft.campaign import campaign as api
from weft.campaign.file import file as files
from weft.campaign.file.ranges import spread

TEXT = (
    head("own", "own", "own.c")
    + """
[[runs]]
program = "own"
fabric = "tofino-4"
ranks = 4
bytes = "1KiB"
"""
)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a campaign's file next to its program."""
    shutil.copy(LATENCY, tmp_path / "own.c")
    return lambda text: written(tmp_path, text, "own")


def digests(file: Path) -> list[str]:
    return [run.digest for run in api.prepare(file).runs]


def test_links_that_do_not_contend_are_other_runs(write: Write) -> None:
    lines = 'offload = "off"\n'
    both = digests(write(TEXT + lines + "contention = [true, false]\n"))
    assert len(set(both)) == 2
    runs = api.prepare(write(TEXT + lines + "contention = false\n")).runs
    assert [run.request.placement.contention for run in runs] == [False]
    assert [run.digest for run in runs] == both[1:]


def test_contention_is_true_or_false(write: Write) -> None:
    with pytest.raises(WeftError, match="contention: found 'no'; allowed are true, false"):
        api.prepare(write(TEXT + 'contention = "no"\n'))


def test_options_of_simgrid_are_a_key(write: Write) -> None:
    """Regression: `cfg` was no key, and campaigns could not share allocations."""
    both = 'cfg = ["smpi/wtime:1e-6", "smpi/wtime:1e-6, smpi/test:1e-6"]\n'
    runs = api.prepare(write(TEXT + both)).runs
    assert [run.request.simulation.config for run in runs] == [
        ("smpi/wtime:1e-6",),
        ("smpi/wtime:1e-6", "smpi/test:1e-6"),
    ]
    assert len({run.digest for run in runs}) == 2


@pytest.mark.parametrize("value", ['"smpi/wtime"', '"smpi/wtime:1 smpi/test:1"', "1", '""'])
def test_options_of_simgrid_have_values(write: Write, value: str) -> None:
    with pytest.raises(WeftError, match=r"cfg: found .*; write KEY:VALUE, several separated by"):
        api.prepare(write(TEXT + f"cfg = {value}\n"))


# ---- Ranges


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ({"from": "4B", "to": "64B", "times": 2}, ["4B", "8B", "16B", "32B", "64B"]),
        ({"from": "512B", "to": "1MiB", "times": 32}, ["512B", "16KiB", "512KiB"]),
        ({"from": "1KiB", "to": "4KiB", "plus": "1536B"}, ["1KiB", "2560B", "4KiB"]),
        ({"from": 4, "to": 70, "times": 4}, [4, 16, 64]),
        ({"from": 8, "to": 32, "plus": 8}, [8, 16, 24, 32]),
        ({"from": 0, "to": 0.3, "plus": 0.1}, None),
        ({"from": 0.0, "to": 0.3, "plus": 0.1}, [0.0, 0.1, 0.2, 0.3]),
        ({"from": "25Gbps", "to": "400Gbps", "times": 4}, ["25Gbps", "100Gbps", "400Gbps"]),
        ({"from": "0.5us", "to": "2us", "plus": 0.5}, ["0.5us", "1us", "1.5us", "2us"]),
    ],
)
def test_ranges_go_up_to_their_end(said: dict[str, object], wanted: list[object] | None) -> None:
    if wanted is None:
        with pytest.raises(ValueError, match="take whole ones"):
            spread(said)
    else:
        found = spread(said)
        assert found == wanted
        assert list(map(type, found)) == list(map(type, wanted))


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"from": 1}, "write a range as"),
        ({"from": 1, "to": 2, "times": 2, "plus": 2}, "write a range as"),
        ({"from": 1, "to": 2, "step": 2}, "write a range as"),
        ({"from": 4, "to": 2, "times": 2}, "from, which is above 0, is not above to"),
        ({"from": 0, "to": 2, "times": 2}, "from, which is above 0, is not above to"),
        ({"from": 1, "to": 2, "times": 1}, "times is a number more than 1"),
        ({"from": 1, "to": 2, "plus": 0}, "plus is a number more than 0"),
        ({"from": 1, "to": 10**9, "plus": 1}, "has more than 10,000 values"),
        ({"from": "1us", "to": "1ms", "times": 2}, "both ends must have the same unit"),
        ({"from": "x", "to": "1ms", "times": 2}, "numbers with a unit"),
        ({"from": "1KiB", "to": 4096, "times": 2}, "two numbers or two texts"),
    ],
)
def test_wrong_ranges_say_what_is_wrong(said: dict[str, object], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        spread(said)


def test_a_range_stands_wherever_values_do(write: Write) -> None:
    text = TEXT.replace(
        '"1KiB"',
        '["3B", { from = "1KiB", to = "4KiB", times = 2 }]\n'
        "switch.slots = { from = 64, to = 256, times = 2 }\n"
        "repetitions = 2",
    )
    points = list(files.read(write(text)).points())
    assert len(points) == 4 * 3 * 2
    assert list(dict.fromkeys(one["bytes"] for one in points)) == ["3B", "1KiB", "2KiB", "4KiB"]
    assert {one["repetition"] for one in points} == {1, 2}
    with pytest.raises(WeftError, match=r"\[\[runs\]\] bytes: found { from = 1 }; write a range"):
        files.read(write(TEXT.replace('"1KiB"', "{ from = 1 }")))


# ---- Seeds


def test_a_seed_is_that_of_all_that_is_drawn(write: Write) -> None:
    def changes(more: str) -> set[tuple[str, ...]]:
        runs = api.prepare(write(TEXT + more)).runs
        return {run.request.placement.changes for run in runs}

    noisy = "noise.host = \"[{kind='exponential', mean='1us'}]\""
    drops = 'multicast.drops = "[{probability=0.01}]"'
    assert {one[-1] for one in changes(f"seed = [1, 2]\n{noisy}")} == {
        "noise.seed=1",
        "noise.seed=2",
    }
    assert {one[-1] for one in changes(f"seed = 3\n{drops}")} == {"multicast.drop_seed=3"}
    with pytest.raises(
        WeftError, match="fabric tofino-4: seed: the fabric has no random behaviour"
    ):
        changes("seed = 1")
    with pytest.raises(WeftError, match="seed: found -1; allowed is a whole number from 0"):
        changes("seed = -1")


# ---- Inputs that identify a result


def test_files_that_a_program_is_made_of_and_reads_decide(write: Write, tmp_path: Path) -> None:
    header, data = tmp_path / "own.h", tmp_path / "data.txt"
    source = tmp_path / "own.c"
    source.write_text('#include "own.h"\n' + source.read_text(encoding="utf-8"), encoding="utf-8")
    header.write_text("// nothing\n", encoding="utf-8")
    data.write_text("1", encoding="utf-8")
    file = write(TEXT.replace("privatize", 'inputs = ["data.txt"]\nprivatize'))
    first = digests(file)
    assert digests(file) == first
    data.write_text("2", encoding="utf-8")
    second = digests(file)
    assert second != first
    header.write_text("int more_of_it = 1;\n", encoding="utf-8")
    assert digests(file) != second
    header.write_text("// nothing\n", encoding="utf-8")
    assert digests(file) == second  # compiling reproduces the same bytes
    data.unlink()
    with pytest.raises(WeftError, match=r"\[programs.own\] inputs: .*data.txt is not a file"):
        digests(file)


def test_rules_of_the_fallback_are_the_folders_and_decide(write: Write, tmp_path: Path) -> None:
    rules = tmp_path / "mine.toml"
    shutil.copy(paths.installed("presets", "mpi", "openmpi-5.0.toml"), rules)
    file = write(TEXT + 'fallback = ["mine.toml", "bcast=binomial,mine.toml"]')
    both = api.prepare(file).runs
    assert both[0].request.collectives.fallback == str(rules)
    assert both[1].request.collectives.fallback == f"bcast=binomial,{rules}"
    rules.write_text("# changed\n" + rules.read_text(encoding="utf-8"), encoding="utf-8")
    assert not set(digests(file)) & {run.digest for run in both}


def test_who_only_looks_does_not_call_the_command_of_a_program(
    write: Write, tmp_path: Path
) -> None:
    text = TEXT.replace('source = "own.c"', 'path = "a.out"\nbuild = "echo x >> made && make -s"')
    weft = simulated.WEFT[-1] if len(simulated.WEFT) == 1 else " ".join(simulated.WEFT)
    (tmp_path / "Makefile").write_text(f"a.out: own.c\n\t{weft} cc -O2 own.c -o a.out\n")
    file = write(text)
    api.prepare(file, again=False)
    api.prepare(file, again=False)
    assert (tmp_path / "made").read_text() == "x\n"
    api.prepare(file)
    assert (tmp_path / "made").read_text() == "x\nx\n"


def test_a_plan_says_what_will_be_refused(write: Write) -> None:
    file = write(TEXT + "switch.slots = [64, 512]")
    planned = run_weft("plan", str(file))
    assert (planned.status, planned.stdout) == (0, "own: 2 runs: 0 done, 2 to do\n")
    said = "weft: will be refused: program own, fabric tofino-4, ranks 4, bytes 1KiB,"
    assert f"{said} switch.slots 512: " in planned.stderr
    assert "the switch has 16384 (total_slots)" in planned.stderr
