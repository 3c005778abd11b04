# SPDX-License-Identifier: LGPL-2.1-only
"""docs/command-line.md: tables of options, as defined by the commands.

The study measures nothing. A section such as `weft run` lists the options of this command with
defaults and help; descriptions of commands and additional notes on options are hand-written.
"""

import re
from collections.abc import Iterator

import click

from studies.study import DOCS, Study, markdown
from weft.cli.root import weft

PAGE = DOCS / "command-line.md"

_PLACE = re.compile(r"^<!-- table: (weft[^>]*) -->$", re.MULTILINE)
_SAID_DEFAULT = re.compile(r"\s*\[default: (.*)\]$")
# Patterns marked as code unless they already are: options, files and suffixes, names with
# underscores, tables.
_CODE = re.compile(
    r"`[^`]*`|(?<![\w`])--?[a-zA-Z][\w-]*|(?<!\w)\.[a-z]{2,4}\b|\b\w+/\w+\.\w+\b"
    r"|\b[a-zA-Z]+(?:_[a-zA-Z]+)+\b|\[\[?\w+\]\]?"
)
_RANGES = {
    "INTEGER RANGE": "N",
    "FLOAT RANGE": "X",
    "INTEGER": "N",
    "PATH": "DIRECTORY",
    "TEXT": "NAME",
}


def _command(name: str) -> tuple[click.Command, click.Context]:
    command: click.Command = weft
    context = click.Context(weft, info_name="weft")
    for word in name.split()[1:]:
        assert isinstance(command, click.Group)
        found = command.get_command(context, word)
        assert found is not None, name
        command, context = found, click.Context(found, context, info_name=word)
    return command, context


def marked_up(text: str) -> str:
    """Mark options, files and names as code in plain text."""
    return _CODE.sub(lambda match: match[0] if match[0][0] == "`" else f"`{match[0]}`", text)


def _names(option: click.Option, context: click.Context) -> str:
    """Return an option's names such as `--quiet`, `-q`, the long form first, and its argument."""
    names = sorted(option.opts, key=len, reverse=True)
    takes = ""
    if not option.is_flag and not option.count:
        takes = " " + _takes(option.make_metavar(context))
    return ", ".join(f"`{name}{takes if name == names[0] else ''}`" for name in names)


def _takes(metavar: str) -> str:
    inner = metavar[1:-1] if metavar.startswith("[") else metavar
    return _RANGES.get(metavar, inner).replace("|", r"\|")


def _default(option: click.Option) -> str:
    if option.required:
        return "required"
    if said := _SAID_DEFAULT.search(option.help or ""):
        return marked_up(said[1])
    if isinstance(option.show_default, str):
        return marked_up(option.show_default.strip("()"))
    default = option.default
    if not option.show_default or default is None or option.is_flag or default == ():
        return ""
    return f"`{','.join(map(str, default)) if isinstance(default, tuple) else default}`"


def _about(option: click.Option) -> str:
    text = _SAID_DEFAULT.sub("", " ".join((option.help or "").split()))
    return marked_up(text.removesuffix(".")).replace("|", r"\|")


def _options(name: str) -> str:
    command, context = _command(name)
    rows = [
        (_names(option, context), _default(option), _about(option))
        for option in command.get_params(context)
        if isinstance(option, click.Option) and not option.hidden and "--help" not in option.opts
    ]
    return markdown(("option", "default", ""), rows, 3) if rows else "It has no options.\n"


def places() -> Iterator[str]:
    """Yield the commands with a section on the page."""
    yield from _PLACE.findall(PAGE.read_text(encoding="utf-8"))


def texts() -> dict[str, str]:
    """Return the text of each generated section."""
    return {f"table: {name}": _options(name) for name in places()}


STUDY = Study(
    "command-line",
    "the options of commands, as the commands know them",
    measure=lambda: None,
    page=PAGE,
    texts=texts,
)
