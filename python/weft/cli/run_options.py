# SPDX-License-Identifier: LGPL-2.1-only
"""Command-line options of runs, generated from `weft.runs.options`."""

import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from weft.base.errors import WeftError
from weft.cli import completion
from weft.cli.common import Command
from weft.cli.files import (
    Duration,
    FiniteNumber,
    Input,
    Output,
    OutputDirectory,
    Setting,
    Size,
    fabric_name,
)
from weft.runs import value_types
from weft.runs.options import (
    SHORTCUTS,
    DeclaredOption,
    Shortcut,
    run_option,
    run_options,
    sentences,
)

Decorator = Callable[[Any], Any]
_LONGEST_S = 1e9
_COMPLETIONS: Mapping[
    type, Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
] = {value_types.Algorithms: completion.on_hosts, value_types.Changes: completion.changes}
_REPEATABLE = (value_types.Changes, value_types.Settings)


def _values(kind: value_types.Kind) -> click.ParamType[Any]:
    match kind:
        case value_types.Count(least, most):
            return click.IntRange(least, most)
        case value_types.Probability():
            return FiniteNumber(min=0, max=1)
        case value_types.Seconds():
            return Duration(min=0, min_open=True, max=_LONGEST_S)
        case value_types.Size():
            return Size()
        case value_types.Choice(words):
            return click.Choice(words)
        case value_types.Switch():
            return click.BOOL
        case value_types.FabricName():
            return fabric_name
        case value_types.Settings():
            return Setting()
        case value_types.InputFile():
            return Input()
        case value_types.OutputFile():
            return Output()
        case value_types.Directory():
            return OutputDirectory()
        case value_types.Text() | value_types.Algorithms() | value_types.Changes():
            return click.STRING


def click_option(field: str, **changed: Any) -> Decorator:
    """Return the option for a field of a request; `changed` overrides attributes for a command."""
    one = run_option(field)
    attributes = {**_attributes(one), **changed}
    if attributes.get("required"):
        attributes.pop("default", None)  # click takes even None for a value
    return click.option(one.option.flag, field, **attributes)


def _attributes(one: DeclaredOption) -> dict[str, Any]:
    option = one.option
    found: dict[str, Any] = {"help": _help(one)}
    if isinstance(option.kind, value_types.Switch):
        return found | {"is_flag": True, "flag_value": not one.default, "default": one.default}
    found |= {"type": _values(option.kind), "metavar": option.metavar or None}
    found["shell_complete"] = _COMPLETIONS.get(type(option.kind))
    if isinstance(option.kind, _REPEATABLE):
        return found | {"multiple": True}
    if one.required:
        return found | {"required": True}
    return found | {"default": one.default, "show_default": one.default is not None}


def _help(one: DeclaredOption) -> str:
    option = one.option
    text = sentences(option.off or option.meaning, option.more, option.command_line)
    return f"{text}  [default: {option.absent}]" if option.absent else text


def options_of_runs(command: Command) -> Command:
    """Add all options of runs."""
    return _with(command, run_options())


def options_of_programs(command: Command) -> Command:
    """Add all options of runs; the number of ranks may come from a jobs file instead."""
    text = f"{_help(run_option('ranks'))} Required unless --jobs is given."
    return _with(command, run_options(), ranks={"required": False, "help": text})


def options_of_replays(command: Command) -> Command:
    """Add the options that also apply to replays."""
    return _with(command, [one for one in run_options() if one.option.replays])


def _with(
    command: Command, options: Sequence[DeclaredOption], **changed: Mapping[str, Any]
) -> Command:
    """Add options; `changed` overrides attributes by field."""
    for one in reversed(options):
        attributes = changed.get(one.field, {})
        add = changes_options if one.field == "changes" else click_option(one.field, **attributes)
        command = add(command)
    return command


# ---- Keys of the fabric


def changes_options(command: Command) -> Command:
    """Add the options that change fabric keys; the decorated function receives `changes`."""
    for one in reversed(SHORTCUTS):
        command = _shortcut(one)(command)
    command = click_option("changes")(command)
    if isinstance(command, click.Command):
        command.callback = _gathering_changes(command.callback)
        return command
    gathering: Command = _gathering_changes(command)
    return gathering


def _shortcut(one: Shortcut) -> Decorator:
    return click.option(
        one.flag,
        one.field,
        type=_values(one.kind),
        metavar=one.metavar,
        help=f"{one.meaning}. Short for --set '{one.change.format(one.metavar)}'.",
    )


def _gathering_changes(function: Any) -> Any:
    """Wrap a function: merge the values of these options into the parameter `changes`."""

    @functools.wraps(function)
    def with_changes(*args: Any, changes: tuple[str, ...], **options: Any) -> Any:
        own = [(one.change, options.pop(one.field)) for one in SHORTCUTS]
        more = [change.format(value) for change, value in own if value is not None]
        _once("--set", (*changes, *more), "=")
        _once("--cfg", options.get("config", ()), ":")
        return function(*args, changes=(*changes, *more), **options)

    return with_changes


def _once(option: str, given: Sequence[str], end: str) -> None:
    """Refuse repeated keys, which are ambiguous."""
    keys = Counter(one.partition(end)[0].strip() for one in dict.fromkeys(given))
    for key, times in keys.items():
        if times > 1:
            raise WeftError(f"{option}: {key} is set {times} times; set it once")
