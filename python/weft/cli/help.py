# SPDX-License-Identifier: LGPL-2.1-only
"""`weft help`: the shipped documentation."""

import re
import shutil
import sys
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from weft.base import paths
from weft.base.errors import WeftError, printable, suggestion
from weft.cli.files import command

_HELP = """
Show a page of the documentation, or the help of a command.

Without TOPIC, all pages are listed. Pages are formatted as text; on a terminal they open in the
pager. --markdown prints the Markdown source instead.

\b
Examples:
  weft help
  weft help guide
  weft help run
  weft help fabric-files --markdown | grep -A 20 '^## Switch'
"""
_INDEX = "README"
_WIDTH = 100
_COMMENT = re.compile(r"^<!--.*?-->\n", re.MULTILINE)
_PICTURE = re.compile(r"^!\[[^\]]*\]\([^)]*\)\n", re.MULTILINE)
_RELATIVE_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])+)\]\((?!\w+:)[^()\s]*\)")
"""Link to a page or file; its text may have brackets, as in `[[policy]]`."""


def _topics() -> dict[str, Path]:
    found = {path.stem: path for path in sorted(paths.documents().glob("*.md"))}
    found.pop(_INDEX, None)
    return found


def _complete(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in _topics() if name.startswith(typed)]


@command(name="help", help=_HELP)
@click.argument("topic", required=False, shell_complete=_complete)
@click.option("--markdown", is_flag=True, help="Print the Markdown source of the page.")
@click.pass_context
def show(context: click.Context, topic: str | None, markdown: bool) -> None:
    """List the pages, or show one."""
    topics = _topics()
    weft = context.find_root().command
    assert isinstance(weft, click.Group)
    if topic is None:
        _list(topics)
    elif topic in topics:
        text = topics[topic].read_text(encoding="utf-8")
        if markdown:
            click.echo(text, nl=False)
        else:
            _show(text)
    elif topic in weft.list_commands(context):
        _show_command(context, weft, topic)
    else:
        known = [*topics, *weft.list_commands(context)]
        raise WeftError(
            f"TOPIC: found '{printable(topic)}', which is neither a page nor a command;"
            f" {suggestion(topic, known)} (`weft help` lists the pages)"
        )


def _list(topics: dict[str, Path]) -> None:
    width = max(map(len, topics))
    for name, path in topics.items():
        click.echo(f"{name:{width}}  {_title(path)}")


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as lines:
        return next((line[2:].strip() for line in lines if line.startswith("# ")), "")


def _show(text: str) -> None:
    """Render a page at the width of the terminal, or of COLUMNS."""
    from rich.console import Console
    from rich.markdown import Markdown

    paged = sys.stdout.isatty()
    terminal = Console(width=shutil.get_terminal_size((_WIDTH, 24)).columns)
    with terminal.capture() as shown:
        terminal.print(Markdown(_readable(text), hyperlinks=False))
    if paged:
        click.echo_via_pager(shown.get(), color=True)
        return
    click.echo("\n".join(line.rstrip() for line in shown.get().splitlines()))


def _readable(text: str) -> str:
    """Remove what only browsers can show or follow: pictures, generated sections, page links."""
    text = _COMMENT.sub("", text)
    text = _PICTURE.sub("", text)
    return _RELATIVE_LINK.sub(r"\1", text)


def _show_command(context: click.Context, weft: click.Group, name: str) -> None:
    found = weft.get_command(context, name)
    assert found is not None
    with click.Context(found, info_name=name, parent=context.find_root()) as inner:
        click.echo(found.get_help(inner))
