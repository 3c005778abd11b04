# SPDX-License-Identifier: LGPL-2.1-only
"""Command lines with hostile option values; no simulator starts."""

import contextlib
import io
import os
import random
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import click

from tests.python.fuzz.mutate import HOSTILE
from weft.base.errors import WeftError
from weft.cli.root import weft

COMPILERS = ("cc", "cxx", "f90")
# Stubbed functions: work beyond parsing, which starts processes, needs privileges or takes long.
_WORK = (
    *(
        "weft.runs.launch.run",
        "weft.runs.toolchain.compile_c",
        "weft.base.plots.save",
    ),
    *(
        "weft.study.bench.collectives.compile_c",
        "weft.study.bench.micro_benchmarks.compile_c",
        "weft.fabric.picture.plot",
        "weft.study.validation.validate.run",
    ),
    *(
        "weft.study.demo.run",
        "weft.calibrate.host.cpu.measure",
        "weft_testbed.running.namespaces.up",
    ),
    *(
        "weft_testbed.running.namespaces.down",
        "weft_testbed.running.probe.check",
        "weft_testbed.plan.picture.draw",
    ),
    *(
        "weft.study.forwarding.forwarding.conflicts_by_ways",
        "weft.study.forwarding.forwarding.capacity_of_tori",
    ),
    *(
        "weft.study.forwarding.forwarding.conflicts_of_trace",
        "weft.study.forwarding.forwarding.traffic",
    ),
    "weft.study.forwarding.hashes.prove_cube",
    *(
        "weft_testbed.plan.plan.make",
        "weft.calibrate.point_to_point.p2p.calibrate",
        "weft.calibrate.switch.switch.fit",
    ),
)
_FINE = (
    *(
        "tofino-4",
        "f.toml",
        "t.csv",
        "p.json",
        "r.json",
        "trace",
        "topocloud-64",
        "ring",
        "out.png",
    ),
    *(
        "out.json",
        "4",
        "1",
        "4:64",
        "stream,ring",
        "10Gf",
        "auto",
        "smpi:rdb",
        "smpi/wtime:0",
        "star-8",
    ),
    *("bluefield-3-dpa", "100Gbps", "lru", "crc", "0.5", "-", "x", "out.xml", "4,4", "1KiB"),
)


class StubError(WeftError):
    """Raised by stubs: the command line was accepted."""


def commands(group: click.Group = weft, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of all commands."""
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        if isinstance(found, click.Group):
            yield from commands(found, (*path, name))
        elif found is not None and name not in COMPILERS:
            yield (*path, name)


def find(words: tuple[str, ...]) -> click.Command:
    """Return the command with the given words."""
    found: click.Command | None = weft
    for word in words:
        assert isinstance(found, click.Group)
        found = found.get_command(click.Context(found), word)
    assert found is not None
    return found


def line(words: tuple[str, ...], dice: random.Random) -> list[str]:
    """Return a command line; most values are valid, some are hostile."""
    given = list(words)
    for param in find(words).params:
        if isinstance(param, click.Option) and (param.required or dice.random() < 0.3):
            given.append(dice.choice(param.opts))
            if not param.is_flag:
                given.append(_value(param, dice))
    for param in find(words).params:
        if isinstance(param, click.Argument):
            given += [
                _value(param, dice) for _ in range(1 if param.nargs == 1 else dice.randint(1, 2))
            ]
    if dice.random() < 0.1:
        given.insert(dice.randint(1, len(given)), dice.choice((*HOSTILE, *given)))
    return [one.replace("\x00", "") for one in given]  # arguments cannot contain NUL


def _value(param: click.Parameter, dice: random.Random) -> str:
    if dice.random() < 0.35:
        return dice.choice(HOSTILE)
    if isinstance(param.type, click.Choice) and dice.random() < 0.9:
        return str(dice.choice(list(param.type.choices)))
    if dice.random() < 0.5 and isinstance(param.default, int | float | str):
        return str(param.default)
    return dice.choice(_FINE)


def prepare(directory: Path, texts: dict[str, str]) -> None:
    """Make the files that command lines refer to."""
    os.chdir(directory)
    for name, text in texts.items():
        path = directory / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    (directory / "ring").write_bytes(Path("/bin/true").read_bytes())
    (directory / "ring").chmod(0o755)


@contextlib.contextmanager
def stubbed() -> Iterator[None]:
    """Replace everything beyond parsing of command lines and files."""
    with contextlib.ExitStack() as stack:
        for name in _WORK:
            stack.enter_context(mock.patch(name, side_effect=StubError("stub")))
        known = {"rejects": "", "algorithms": ["ompi", "rdb", "lr"], "options": ["smpi/wtime"]}
        for name, answer in known.items():
            stack.enter_context(
                mock.patch(f"weft.runs.simgrid.SimGrid.{name}", return_value=answer)
            )
        stack.enter_context(
            mock.patch("weft.base.output.alone_on_standard_output", contextlib.nullcontext)
        )
        stack.enter_context(
            mock.patch("weft.base.process.run_child", side_effect=StubError("stub"))
        )
        yield


def run(given: list[str]) -> str:
    """Run a command line and return its output; exceptions for the entry point propagate."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        weft.main(given, prog_name="weft", standalone_mode=False)
    return said.getvalue()
