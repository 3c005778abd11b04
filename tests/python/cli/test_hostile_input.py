# SPDX-License-Identifier: LGPL-2.1-only
"""Malformed input causes one error message and exit status 2 immediately."""

import json
import re
from pathlib import Path

import pytest

import weft
from tests.support.simulated import weft_says
from weft.base.errors import WeftError

RUN = "run --fabric tofino-4 -n 2"
MANIFEST = {
    **{"schema": "weft-trace/1", "weft": "0", "simgrid": "4.1", "program": "p", "ranks": 2},
    **{"arguments": [], "command": [], "ppn": None, "fabric": "tofino-4", "offload": "stream"},
    **{"simulated_time_s": 0.1, "polls": False},
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "junk.so").write_bytes(b"\x7fELF\xff\x9b junk")
    (tmp_path / "self.toml").write_text(
        '[[rule]]\ncollective = "allreduce"\nalgorithm = ["smp"]\n'
        '[[rule]]\ncollective = "bcast"\nalgorithm = ["smp"]\n'
        '[[rule]]\ncollective = "reduce"\nalgorithm = ["smp"]\n'
    )
    (tmp_path / "rows.csv").write_text("bytes,time_us\n4,5\n")
    (tmp_path / "bom.csv").write_text("\ufeffbytes;median_us\n1;2\n2;3\n")
    (tmp_path / "t.json").write_text('{"bytes": 1}')
    (tmp_path / "huge.toml").touch()
    with (tmp_path / "huge.toml").open("r+b") as file:
        file.truncate(5 << 30)  # sparse
    (tmp_path / "inf.swf").write_text("1 0 5 60 inf" + " -1" * 13 + "\n")
    (tmp_path / "nan.swf").write_text("1 0 5 60 nan" + " -1" * 13 + "\n")
    (tmp_path / "big.swf").write_text("1 0 5 60 1e400" + " -1" * 13 + "\n")
    (tmp_path / "none.csv").write_text("trace,procs,jobs\na,4,0\n")
    (tmp_path / "half.csv").write_text("trace,procs,jobs\na,4,0\nb,8,1\n")
    (tmp_path / "p.json").write_text('{"format": "weft-testbed-plan/1", "experiments": 3}')
    (tmp_path / "r.json").write_text('{"schema": "weft-run/1", "ranks": "x"}')
    trace(tmp_path / "tr", ranks=10**9)
    return tmp_path


def trace(path: Path, ranks: int = 2, line: str = "0 barrier") -> None:
    path.mkdir()
    (path / "manifest.json").write_text(json.dumps({**MANIFEST, "ranks": ranks}))
    (path / "actions.txt").write_text(f"{line}\n0 finalize\n1 finalize\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        *((f"{RUN} --timeout {text} x", "--timeout") for text in ("inf", "1e30", "nan", "0")),
        ("cache ways --entries 1000000000000", "--entries"),
        *((f"cache rate --latency {text}", "--latency") for text in ("nan", "inf", "1e-320")),
        ("calibrate p2p /dev/zero -o o.toml", "/dev/zero: has more than 256 MiB"),
        ("calibrate p2p bom.csv -o o.toml", "line 1: its columns are separated by ';'"),
        ("calibrate p2p t.json -o o.toml", "t.json: is JSON; allowed is a table"),
        ("fabric show huge.toml", "huge.toml: has more than 64 MiB"),
        ("replay tr --fabric tofino-4", "manifest.json states 1000000000 ranks"),
        (f"{RUN} --cfg contexts/factory:nope /bin/true", "--cfg: found contexts/factory:nope"),
        (f"{RUN} --cfg contexts/factory:ucontext /bin/true", "the SimGrid that weft uses has raw"),
        (f"{RUN} --cfg smpi/os:junk /bin/true", "--cfg: found smpi/os:junk; write SIZE:SECONDS"),
        (f"{RUN} --cfg contexts/stack-size:-5 /bin/true", "allowed is a whole number from 0"),
        (f"{RUN} --cfg contexts/nthreads:2 /bin/true", "--cfg: found contexts/nthreads:2; SMPI"),
        (
            "run --platform ./junk.so -n 2 /bin/true",
            "not a library with the function load_platform",
        ),
        *(
            (f"bench {one} --fabric tofino-4 -n 4 --sizes 1TB", "--sizes: found 931 GiB; allowed")
            for one in ("allreduce", "allgather", "bcast", "ag+rs")
        ),
        (
            f"{RUN} --set switch.slots=1 --set switch.slots=2 x",
            "--set: switch.slots is set 2 times",
        ),
        (
            f"{RUN} --seed 1 --set noise.seed=2 x",
            "--set: noise.seed is set 2 times; set it once",
        ),
        (f"{RUN} --cfg smpi/wtime:0 --cfg smpi/wtime:1 x", "--cfg: smpi/wtime is set 2 times"),
        (
            f"{RUN} --cfg smpi/host-speed:1Gf /bin/true",
            "weft sets smpi/host-speed itself; use --host",
        ),
        (f"{RUN} --platform bom.csv x", "--fabric: found together with --platform"),
        ("collectives show bcast -n 4 --ranks-per-host 0", "--ranks-per-host"),
        *(
            (f"collectives show {one} -n 6 --selection ./self.toml", "contains the same call")
            for one in ("allreduce", "bcast", "reduce")
        ),
        ("collectives show bcast -n 4 --fan-out 0", "--fan-out"),
        *(
            (
                f"{line} ./junk.so /bin/true"[: None if "run" in line else -10],
                "junk.so:1: number of collectives: found",
            )
            for line in (
                f"{RUN} --fallback",
                "bench allreduce --fabric tofino-4 -n 4 --modes",
                *(
                    "collectives show bcast -n 4 --selection",
                    "validate rows.csv --fabric tofino-4 --mode",
                ),
            )
        ),
        (f"{RUN} --host-speed infGf /bin/true", "--host-speed: found 'infGf'"),
        (f"{RUN} --host-speed -1Gf /bin/true", "--host-speed: found '-1Gf'"),
        ("fabric show \udcff.toml", r"\udcff.toml', which is not UTF-8"),
        ("fabric plot tofino-4 -o \udcff.png", "-o: found"),
        ("progress-engine throughput bluefield-3-dpa --link \udcff", "--link: found"),
        (f"fabric show {'a' * 5000}", "fabric"),
        ("calibrate switch bom.csv --base star-8 -o o.toml", "no switch that reduces"),
        ("progress-engine memory bluefield-3-dpa --chunk x", "--chunk: found 'x'"),
        ("calibrate switch bom.csv --base tofino-4 --bytes x -o o.toml", "--bytes: found 'x'"),
        *((f"cache jobs {name}.swf", f"{name}.swf:1: found") for name in ("inf", "nan", "big")),
        *(
            (f"cache jobs {one}.csv", f"{one}.csv: has no job of a known")
            for one in ("none", "half")
        ),
        ("testbed show p.json", "p.json: this plan is damaged: 'experiments' is 3, but must be"),
        ("fabric plot tofino-4 -o x.png --record r.json", "'ranks' is 'x', but must be a whole"),
    ],
)
def test_it_is_one_message(here: Path, line: str, message: str) -> None:
    before = sorted(here.iterdir())
    result = weft_says(*line.split())
    assert (result.returncode, result.stdout) == (2, "")
    assert re.fullmatch(r"weft: [^\n\x00-\x1f]+\n", result.stderr), result.stderr
    assert message in result.stderr
    assert "of the other modes" not in result.stderr  # only for mode names
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize(
    "line",
    [
        *("0 bcast -5 0 MPI_INT", "0 bcast 1000000000000 0 MPI_INT", "0 bcast 4 2 MPI_INT"),
        *(
            "0 compute inf",
            "0 compute -1",
            "0 send 7 0 4 MPI_INT",
            "0 allreduce 1_0 MPI_INT MPI_SUM",
        ),
        *("0 sleep nan", "\u0660 barrier", "0 waitall -1", "0 alltoallv 1 1 -1 1 MPI_INT MPI_INT"),
    ],
)
def test_actions_that_no_program_does_are_refused(tmp_path: Path, line: str) -> None:
    trace(tmp_path / "tr", line=line)
    result = weft_says("replay", str(tmp_path / "tr"), "--fabric", "tofino-4")
    assert result.returncode == 2
    assert re.fullmatch(r"weft: trace: .*actions.txt: line 1: found [^\n]+\n", result.stderr)


def test_a_dollar_in_a_name_is_no_formula(here: Path) -> None:
    made = weft_says("fabric", "new", "star", "--hosts", "4", "--name", "$\\frac$", "-o", "f.toml")
    assert made.returncode == 0, made.stderr
    result = weft_says("fabric", "plot", "f.toml", "-o", "f.svg")
    assert (result.returncode, result.stderr) == (0, "")
    assert (here / "f.svg").stat().st_size > 1000
    assert "<svg" in weft.Fabric(here / "f.toml")._repr_html_()


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path) -> None:
    rows = "".join(f"{1 << k},{1 + k / 4}\n" for k in range(20))
    (tmp_path / "t.csv").write_text(f"\ufeffbytes,median_us\n{rows}")
    result = weft_says("calibrate", "p2p", str(tmp_path / "t.csv"), "-o", str(tmp_path / "o.toml"))
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("name", ["", "a\x1b[2Jb", "a\nb", "a\x9bb"])
def test_names_of_files_that_cannot_be_shown_are_refused(here: Path, name: str) -> None:
    for words in (
        (*RUN.split(), "--json", name, "x"),
        (*RUN.split(), "--record", name, "x"),
        ("run", "-n", "2", "--fabric", name, "x"),
        ("replay", name, "--fabric", "tofino-4"),
        ("testbed", "plan", name, "star-8", "-o", "o.json"),
        ("demo", "--out", name),
    ):
        result = weft_says(*words)
        assert (result.returncode, result.stdout) == (2, ""), words
        assert re.fullmatch(r"weft: [^\n\x00-\x1f]+\n", result.stderr), result.stderr
        allowed = "control characters" if name else "write the name of a file"
        assert f"found '{name[:1]}" in result.stderr
        assert allowed in result.stderr


def test_texts_with_nul_are_refused_however_deep() -> None:
    for given in (
        {"arguments": ["a\0b"]},
        {"set": {"switch.slots\0": 1}},
        {"set": {"fabric.description": ["a", "b\0"]}},
        {"cfg": {"smpi/wtime": "0\0"}},
        {"timeline": Path("a\0b")},
    ):
        with pytest.raises(WeftError, match="allowed are texts without the character 0"):
            weft.run("x", ranks=2, fabric="tofino-4", **given)
    with pytest.raises(WeftError, match="path: found ''; write the name of a file"):
        weft.Fabric("tofino-4").export("")


def test_hyphens_join_words_of_topologies(here: Path) -> None:
    line = ("--down", "4,2", "--up", "1,2")
    for name in ("fat-tree", "fat_tree"):
        made = weft_says("fabric", "new", name, *line, "-o", f"{name}.toml", "--name", "own")
        assert made.returncode == 0, made.stderr
    assert (here / "fat-tree.toml").read_bytes() == (here / "fat_tree.toml").read_bytes()
