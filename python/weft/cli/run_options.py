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
from weft.cli.files import Finite, Input, Output, Setting, Size, fabric_name
from weft.runs import kinds
from weft.runs.options import SHORTCUTS, Declared, Shortcut, run_option, run_options, sentences

Decorator = Callable[[Any], Any]
_LONGEST_S = 1e9
_COMPLETIONS: Mapping[
    type, Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
] = {kinds.Algorithms: completion.on_hosts, kinds.Changes: completion.changes}
_REPEATABLE = (kinds.Changes, kinds.Settings)


def _values(kind: kinds.Kind) -> click.ParamType[Any]:
    match kind:
        case kinds.Count(least, most):
            return click.IntRange(least, most)
        case kinds.Probability():
            return Finite(min=0, max=1)
        case kinds.Seconds():
            return Finite(min=0, min_open=True, max=_LONGEST_S)
        case kinds.Size():
            return Size()
        case kinds.Choice(words):
            return click.Choice(words)
        case kinds.Switch():
            return click.BOOL
        case kinds.FabricName():
            return fabric_name
        case kinds.Settings():
            return Setting()
        case kinds.InputFile():
            return Input()
        case kinds.OutputFile():
            return Output()
        case kinds.Text() | kinds.Algorithms() | kinds.Changes():
            return click.STRING


def click_option(field: str, **changed: Any) -> Decorator:
    """Return the option for a field of a request; `changed` overrides attributes for a command."""
    one = run_option(field)
    return click.option(one.option.flag, field, **{**_attributes(one), **changed})


def _attributes(one: Declared) -> dict[str, Any]:
    option = one.option
    found: dict[str, Any] = {"help": _help(one)}
    if isinstance(option.kind, kinds.Switch):
        return found | {"is_flag": True, "flag_value": False, "default": True}
    found |= {"type": _values(option.kind), "metavar": option.metavar or None}
    found["shell_complete"] = _COMPLETIONS.get(type(option.kind))
    if isinstance(option.kind, _REPEATABLE):
        return found | {"multiple": True}
    if one.required:
        return found | {"required": True}
    return found | {"default": one.default, "show_default": one.default is not None}


def _help(one: Declared) -> str:
    option = one.option
    text = sentences(option.off or option.meaning, option.more, option.command_line)
    return f"{text}  [default: {option.absent}]" if option.absent else text


def options_of_runs(command: Command) -> Command:
    """Add all options of runs."""
    return _with(command, run_options())


def options_of_replays(command: Command) -> Command:
    """Add the options that also apply to replays."""
    return _with(command, [one for one in run_options() if one.option.replays])


def _with(command: Command, options: Sequence[Declared]) -> Command:
    for one in reversed(options):
        add = changes_options if one.field == "changes" else click_option(one.field)
        command = add(command)
    return command


# ---- Keys of the fabric


def changes_options(command: Command) -> Command:
    """Add the options that change fabric keys; the decorated function gets `changes`."""
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
    """Wrap a function so that all these options are merged into one parameter `changes`."""

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
            raise WeftError(f"{option}: found {key} {times} times; allowed is once: leave one out")
