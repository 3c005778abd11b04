# SPDX-License-Identifier: LGPL-2.1-only
"""Checks before a run, and the command that starts it."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import compiled
from weft import _core
from weft.base.errors import WeftError
from weft.runs import settings
from weft.runs.launch import build_command, prepare
from weft.runs.request import Request
from weft.runs.site import FabricSite, choose_ppn

FABRIC = _core.load_fabric("tofino-4")


@pytest.fixture(scope="module")
def request_() -> Request:
    program = compiled.example("allreduce_latency")
    return Request.of(fabric="tofino-4", ranks=4, program=str(program))


def refused(request: Request) -> str:
    with pytest.raises(WeftError) as error:
        prepare(request)
    return str(error.value)


@given(st.integers(1, 4 * FABRIC.cores_per_host))
def test_by_default_ranks_are_spread_over_all_hosts(ranks: int) -> None:
    ppn = choose_ppn(FABRIC, ranks, None)
    assert (ppn - 1) * 4 < ranks <= ppn * 4
    assert ppn <= FABRIC.cores_per_host


@pytest.mark.parametrize(("ranks", "ppn"), [(8, 1), (5, 1), (288, 71), (4, 73), (4, 1000)])
def test_a_ppn_that_does_not_fit_is_refused_with_those_that_do(ranks: int, ppn: int) -> None:
    least = -(-ranks // 4)
    with pytest.raises(WeftError, match=f"^ppn: found {ppn};.* from {least} to 72 ranks per host"):
        choose_ppn(FABRIC, ranks, ppn)


def test_more_ranks_than_cores_are_refused() -> None:
    with pytest.raises(WeftError, match=r"^ranks: found 289 ranks;.* at most 288 are allowed"):
        choose_ppn(FABRIC, 289, None)


def test_ranks_are_placed_block_by_block(request_: Request) -> None:
    plan = prepare(request_.changed(ranks=7, ppn=3))
    assert isinstance(plan.site, FabricSite)
    assert plan.site.placement == [f"host-{host}" for host in (0, 0, 0, 1, 1, 1, 2)]


def test_the_arguments_of_the_program_come_last_and_untouched(
    request_: Request, tmp_path: Path
) -> None:
    arguments = ("--cfg=a:b", "x y", "", "--", "-n", "*")
    command = build_command(prepare(request_.changed(arguments=arguments)), tmp_path)
    assert command[1] == request_.workload.program
    assert command[-len(arguments) - 1 :] == ["--", *arguments]
    assert command[-len(arguments) - 2].endswith("libweft.so")


def test_the_users_settings_come_after_our_own(request_: Request, tmp_path: Path) -> None:
    request = request_.changed(config=("smpi/coll-selector:mpich",))
    command = build_command(prepare(request), tmp_path)
    settings = [word for word in command if word.startswith("--cfg=")]
    assert settings[-1] == "--cfg=smpi/coll-selector:mpich"
    assert "--cfg=smpi/coll-selector:ompi" in settings
    assert "--cfg=smpi/np:4" in settings
    assert "--cfg=smpi/privatization:no" in settings
    assert "--cfg=smpi/simulate-computation:no" in settings


def test_what_weft_sets_is_refused_or_the_users_comes_after(
    request_: Request, tmp_path: Path
) -> None:
    asked = request_.changed(host_speed="10Gf", timeline=tmp_path / "timeline.json")
    command = build_command(prepare(asked), tmp_path)
    keys = {word.removeprefix("--cfg=").partition(":")[0] for word in command if "--cfg" in word}
    theirs = {
        *("smpi/privatization", "smpi/coll-selector", "precision/timing", "network/model"),
        *("exception/cutpath", "tracing/smpi/computing", "tracing/smpi/display-sizes"),
        "tracing/precision",
    }
    for key in keys - theirs:
        with pytest.raises(WeftError, match=f"weft sets {key} itself; use "):
            settings.check_form(f"{key}:1")
    for key in theirs:
        settings.check_form(f"{key}:1")
    with pytest.raises(WeftError, match="host_speed"):
        settings.check_form("smpi/simulate-computation:yes")


def test_options_become_settings(request_: Request, tmp_path: Path) -> None:
    request = request_.changed(
        privatize=False, host_speed="10Gf", timeline=tmp_path / "timeline.json"
    )
    command = build_command(prepare(request), tmp_path)
    for setting in (
        "smpi/privatization:no",
        "smpi/host-speed:10Gf",
        "smpi/simulate-computation:yes",
        "tracing/smpi:yes",
    ):
        assert f"--cfg={setting}" in command


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"fallback": "smpi:rbd"}, "^fallback: found 'smpi:rbd', .*; did you mean rdb"),
        ({"fallback": "rign"}, '^fallback: found "rign", .*; did you mean "ring"?'),
        ({"fallback": "smpi:weft"}, "^fallback: found 'smpi:weft'"),
        ({"config": ("foo",)}, "^config: found 'foo'; write KEY:VALUE"),
        ({"config": (":1",)}, "^config: found ':1'; write KEY:VALUE"),
        ({"config": ("a:b c:d",)}, "^config: found 'a:b c:d'; write KEY:VALUE"),
        ({"config": ("smpi/np:3",)}, "^config: weft sets smpi/np itself; use ranks"),
        ({"config": ("smpi/wtimes:1",)}, "^config: found 'smpi/wtimes', .*did you mean smpi/wtime"),
        ({"config": ("contexts/stack-size:big",)}, "allowed is a whole number from 0 to 16777216"),
        ({"config": ("precision/timing:big",)}, "does not accept precision/timing:big: "),
        ({"host_speed": "fast"}, "^host_speed: found 'fast', .*cannot parse.*10Gf"),
        ({"program": "./nothing"}, "program: cannot find ./nothing"),
        ({"ranks": 10_000}, "^ranks: found 10000 ranks"),
    ],
)
def test_what_the_user_can_mend_is_said_before_anything_runs(
    request_: Request, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(WeftError, match=message):
        prepare(request_.changed(**changes))


def test_what_decides_a_result_is_all_but_what_is_written_and_waited_for(request_: Request) -> None:
    same = request_.changed(
        timeline=Path("t"), messages=Path("m"), timeout_s=1.0, command=("weft",)
    )
    assert same.deciding == request_.deciding and same != request_
    for changes in ({"ranks": 3}, {"offload": "off"}, {"config": ("a:b",)}, {"arguments": ("x",)}):
        assert request_.changed(**changes).deciding != request_.deciding
    with pytest.raises(TypeError, match="colour"):
        request_.changed(colour="grey")


def test_a_fabric_error_is_the_cores_own(request_: Request) -> None:
    with pytest.raises(_core.UserError, match="tofino-5"):
        prepare(request_.changed(fabric="tofino-5"))


def test_simgrid_is_asked_once_for_many_runs(
    request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    start = subprocess.run

    def counted(command: list[str], **options: Any) -> "subprocess.CompletedProcess[str]":
        asked.append(command)
        return start(command, **options)

    monkeypatch.setattr(subprocess, "run", counted)
    for _ in range(3):
        prepare(request_.changed(config=("smpi/wtime:1e-7",), fallback="smpi:rdb"))
    assert sum("--cfg=smpi/wtime:1e-7" in command for command in asked) == 1
