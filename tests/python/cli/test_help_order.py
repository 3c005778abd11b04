# SPDX-License-Identifier: LGPL-2.1-only
"""Options in the help: grouped, required ones first, in the same order in every command."""

import re
from collections.abc import Iterator
from itertools import combinations

import click
import pytest

from weft.cli import order
from weft.cli.files import OUTPUTS, Command
from weft.cli.root import weft


def commands(
    group: click.Group = weft, parent: click.Context | None = None
) -> Iterator[click.Context]:
    """Yield the contexts of all commands of weft's class."""
    context = parent or click.Context(weft, info_name="weft")
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, context, info_name=name)
        if isinstance(command, click.Group):
            yield from commands(command, inner)
        elif isinstance(command, Command):
            yield inner


ALL = list(commands())


def names(context: click.Context) -> list[str]:
    """Return the options of a command in the order of its help."""
    return re.findall(r"^  (?:-\w, )?(--?[\w-]+)", help_of(context), re.MULTILINE)


def help_of(context: click.Context) -> str:
    """Return the option groups of the help, without the prose above them."""
    lines = context.get_help().splitlines()
    known = (order.REQUIRED, order.OWN, *order.GROUPS, order.OUTPUT)
    return "\n".join(lines[next(k for k, line in enumerate(lines) if line[:-1] in known) :])


def headings(text: str) -> list[str]:
    known = (order.REQUIRED, order.OWN, *order.GROUPS, order.OUTPUT)
    return [line[:-1] for line in text.splitlines() if line[:-1] in known]


@pytest.mark.parametrize("context", ALL, ids=lambda context: context.command_path)
def test_what_must_be_given_is_first_and_help_last(context: click.Context) -> None:
    params = context.command.get_params(context)
    options = [one for one in params if isinstance(one, click.Option)]
    listed = names(context)
    assert set(listed) == {name for one in options for name in one.opts if name in listed}
    assert len(listed) == len([one for one in options if not one.hidden])
    needed = [one.required for one in options]
    either = {"--fabric", "--platform"} <= {max(one.opts, key=len) for one in options}
    if not either:
        assert needed == sorted(needed, reverse=True)
    assert listed[-1] == "--help"
    found = headings(help_of(context))
    order_of_all = [order.REQUIRED, order.OWN, *order.GROUPS, order.OUTPUT]
    assert found == [one for one in order_of_all if one in found]


def test_options_of_several_commands_have_one_order() -> None:
    """Regression: `weft bench bcast` listed the fabric's options in reverse."""
    places: dict[tuple[str, str], str] = {}
    shared = {name for names_ in order.GROUPS.values() for name in names_}
    for context in ALL:
        groups = dict(order.sections(context.command.get_params(context), OUTPUTS))
        listed = [
            (heading, max(one.opts, key=len)) for heading, some in groups.items() for one in some
        ]
        for (group, one), (other_group, other) in combinations(listed, 2):
            if group == other_group and {one, other} <= shared:
                assert (other, one) not in places, (context.command_path, places.get((other, one)))
                places[one, other] = context.command_path
    assert len(places) > 20


def test_commands_with_many_options_have_groups() -> None:
    for context in ALL:
        if len(names(context)) > 12 and not context.command_path.startswith("weft fabric new"):
            assert len(headings(help_of(context))) >= 2, context.command_path
    run = next(one for one in ALL if one.command_path == "weft run")
    assert headings(help_of(run)) == [
        *(order.REQUIRED, "Fabric", "Ranks", "Collectives", "Simulation", order.OUTPUT)
    ]
    assert names(run)[:3] == ["--fabric", "--platform", "-n"]


@pytest.mark.parametrize("context", ALL, ids=lambda context: context.command_path)
def test_what_is_required_has_no_default(context: click.Context) -> None:
    for one in context.command.params:
        if one.required:
            value, _ = one.consume_value(context, {})
            with pytest.raises(click.MissingParameter):
                one.process_value(context, value)
