# SPDX-License-Identifier: LGPL-2.1-only
"""Run options: one declaration, which the command line, the API and campaign files follow."""

import inspect
import typing
from pathlib import Path

import click
import pytest

import weft
from studies import signatures
from weft.api.running import NetworkOptions, RunOptions
from weft.campaign.file import keys
from weft.cli.root import weft as commands
from weft.runs.options import run_option, run_options
from weft.runs.request import Request, as_words
from weft.runs.value_types import Changes, Switch

NAMES = [one.name for one in run_options()]


def options(name: str) -> dict[str, click.Option]:
    command = commands.get_command(click.Context(commands), name)
    assert command is not None
    return {max(one.opts, key=len): one for one in command.params if isinstance(one, click.Option)}


@pytest.mark.parametrize("path", signatures.FILES, ids=lambda path: path.name)
def test_the_api_has_what_is_declared(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert signatures.FILES[path](source) == source, "make stub"


def test_a_call_takes_each_option() -> None:
    parameters = inspect.signature(weft.run).parameters
    assert set(NAMES) <= parameters.keys()
    for one in run_options():
        default = parameters[one.name].default
        assert (default is inspect.Parameter.empty) == one.required, one.name
        if not one.required and not isinstance(one.option.kind, Changes):
            assert default == one.default, one.name
    alone = {one.name for one in run_options() if not one.option.replays}
    assert not alone & NetworkOptions.__annotations__.keys()
    known = typing.get_type_hints(RunOptions)
    assert set(NAMES) <= known.keys()


def test_commands_take_each_option() -> None:
    run, replay = options("run"), options("replay")
    for one in run_options():
        assert run[one.option.flag].name == one.field
        assert (one.option.flag in replay) == one.option.replays
        assert (run[one.option.flag].help or "").startswith(one.option.off or one.option.meaning)


def test_campaigns_have_keys_of_options() -> None:
    assert [key for key in keys.RUNS if key in NAMES] == list(keys.AXES)
    assert "timeout" not in keys.AXES


def test_meanings_are_written_once() -> None:
    for one in run_options():
        texts = (one.option.meaning, one.option.off, one.option.absent)
        assert not any(text.endswith(".") for text in texts), one.name
        assert (isinstance(one.option.kind, Switch) and one.default) == bool(one.option.off)
        assert one.option.flag.startswith("--no-") == bool(one.option.off)


def test_a_request_as_words() -> None:
    request = Request.of(
        **{"program": "a", "fabric": "star-8", "ranks": 4, "privatize": False, "timeout_s": 3.0},
        changes=("switch.slots=1", "link.latency=1us"),
        host_speed="1Gf",
        strict=True,
    )
    assert as_words(request) == [
        *("--fabric", "star-8", "--set", "switch.slots=1", "--set", "link.latency=1us"),
        *("-n", "4", "--offload", run_option("offload").default),
        *("--host-speed", "1Gf", "--messages", "weft", "--strict", "--no-privatize"),
    ]
