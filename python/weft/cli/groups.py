# SPDX-License-Identifier: LGPL-2.1-only
"""Command groups: `weft` itself and its subgroups.

A group without a command shows its help. Groups with a table of modules load each command lazily:
importing all commands takes longer than most commands run.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Protocol

import click
from click.exceptions import NoSuchCommand
from click.shell_completion import CompletionItem

from weft.base.errors import WeftError
from weft.cli.files import Command


class Extras(Protocol):
    """Commands that other distributions add to a group (`weft.base.extras`)."""

    def commands(self) -> Mapping[str, tuple[str, str]]:
        """Return the commands by name: module and summary."""

    def not_installed(self, name: str) -> WeftError | None:
        """Return the error for a command of a distribution that is not installed."""


class _Lazy(click.Group):
    """Group whose commands are loaded lazily."""

    own_commands: Mapping[str, tuple[str, str]]
    extras: Extras | None = None

    def _all_commands(self) -> Mapping[str, tuple[str, str]]:
        return {**self.own_commands, **(self.extras.commands() if self.extras else {})}

    def list_commands(self, context: click.Context) -> list[str]:
        """Return all names."""
        return sorted(self._all_commands())

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Load a command: the attribute of this name in its module."""
        known = self.own_commands if name in self.own_commands else self._all_commands()
        if name not in known:
            if self.extras and (error := self.extras.not_installed(name)):
                raise error
            return None
        module, said = known[name]
        parts = vars(import_module(module)).values()
        found = next(one for one in parts if isinstance(one, click.Command) and one.name == name)
        found.short_help = said
        return found

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands' names without loading them."""
        known = self._all_commands()
        return [
            *(
                CompletionItem(name, help=known[name][1])
                for name in sorted(known)
                if name.startswith(incomplete)
            ),
            *click.Command.shell_complete(self, ctx, incomplete),
        ]

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands' summaries without loading them."""
        known = self._all_commands()
        with formatter.section("Commands"):
            formatter.write_dl([(name, known[name][1]) for name in sorted(known)])

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve the command, or suggest similar names."""
        try:
            return super().resolve_command(context, arguments)
        except NoSuchCommand as error:
            raise NoSuchCommand(
                error.command_name, possibilities=self._all_commands(), ctx=context
            ) from None


def help_group(name: str, text: str, kind: type[click.Group] = click.Group) -> click.Group:
    """Return an empty group for subcommands."""
    settings = {"help_option_names": ["-h", "--help"]}
    group = kind(
        name, help=text, callback=_show_help, invoke_without_command=True, context_settings=settings
    )
    group.command_class = Command
    return group


def lazy_group(
    name: str,
    text: str,
    commands: Mapping[str, tuple[str, str]],
    extras: Extras | None = None,
) -> click.Group:
    """Return a group of lazily loaded commands, given by name as module and summary."""
    group = help_group(name, text, _Lazy)
    assert isinstance(group, _Lazy)
    group.own_commands = commands
    group.extras = extras
    return group


@click.pass_context
def _show_help(context: click.Context) -> None:
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
