# SPDX-License-Identifier: LGPL-2.1-only
"""The example of Allreduce latencies, and figures."""

from pathlib import Path

import pytest

from tests.support import compiled
from weft.base.errors import WeftError
from weft.base.plots import Series, check_format, plot_by_hosts, plot_by_size
from weft.runs import launch
from weft.runs.request import Request


@pytest.mark.parametrize("ranks", [1, 2, 7, 30])
@pytest.mark.parametrize("offload", ["stream", "message", "off"])
def test_the_benchmark_finds_its_results_right(ranks: int, offload: str) -> None:
    program = compiled.example("allreduce_latency")
    lines: list[str] = []
    request = Request.of(
        fabric="tofino-16",
        ranks=ranks,
        program=str(program),
        arguments=("4,12,400", "2"),
        offload=offload,
    )
    record = launch.run(launch.prepare(request), lines.append)
    assert record.exit_status == 0
    assert [line.split()[0] for line in lines] == ["#", "#", "4", "12", "400"]


@pytest.mark.parametrize(
    "arguments", ["3", "0", "8:4", "4:", "4,", "x", "4 0", "4 1 1", "4x", "-4", "4:8,16"]
)
def test_the_benchmark_refuses_what_it_does_not_understand(arguments: str) -> None:
    program = compiled.example("allreduce_latency")
    request = Request.of(
        fabric="tofino-4", ranks=2, program=str(program), arguments=tuple(arguments.split())
    )
    assert launch.run(launch.prepare(request), lambda line: None).exit_status == 2


SERIES = [
    Series("simulated", {4: 7.8, 1024: 7.9, 1 << 20: 154.0}, 0),
    Series("measured", {4: 7.9, 1 << 20: 155.0}, 0, measured=True),
]


@pytest.mark.parametrize(
    ("suffix", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")]
)
def test_the_same_numbers_give_the_same_figure(tmp_path: Path, suffix: str, start: bytes) -> None:
    targets = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for target in targets:
        plot_by_size(SERIES, "latency", [target], "--plot")
    first, second = (target.read_bytes() for target in targets)
    assert first.startswith(start)
    if suffix != ".svg":  # matplotlib assigns random ids in an SVG
        assert first == second


def test_a_figure_by_hosts_is_drawn(tmp_path: Path) -> None:
    series = [Series("simulated", {4: 7.8, 8: 7.9}, 0), Series("one", {4: 7.9}, 1, measured=True)]
    plot_by_hosts(series, "latency", [tmp_path / "a.png"], "--out")
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_a_figure_must_have_a_known_format() -> None:
    check_format("--plot", Path("a.PNG"))
    with pytest.raises(WeftError, match=r"--plot: found 'a\.gif'; .* one of \.png, \.pdf, \.svg"):
        check_format("--plot", Path("a.gif"))
