# SPDX-License-Identifier: LGPL-2.1-only
"""`weft completion`, and the completion of option values that click requests."""

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem, get_completion_class

from weft import _core
from weft.base.units import natural_order
from weft.cli.files import command
from weft.runs import offload_modes

_SHELLS = ("bash", "zsh", "fish")
_VARIABLE = "_WEFT_COMPLETE"
_HELP = """
Print the script with which a shell completes weft's commands, options and names.

Names are those of shipped fabrics, presets and inventories, of collectives, algorithms and
selections, and of the keys of fabric files.

\b
For the running shell, and for all shells of a user:
  eval "$(weft completion bash)"
  weft completion bash > ~/.local/share/bash-completion/completions/weft
  weft completion zsh > "${fpath[1]}/_weft"
  weft completion fish > ~/.config/fish/completions/weft.fish
"""


@command(help=_HELP)
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print click's completion script."""
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(context.find_root().command, {}, "weft", _VARIABLE).source())


def collectives(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    """Return the collectives that have host algorithms."""
    return _beginning(typed, {row["collective"] for row in _core.host_algorithms()})


def algorithms(context: click.Context, _: click.Parameter, typed: str) -> list[CompletionItem]:
    """Return the algorithms of the given collective, or of all."""
    # While completing an option's value, click leaves arguments unparsed.
    given = {context.params.get("collective"), *context.args}
    rows = _core.host_algorithms()
    wanted = [row for row in rows if row["collective"] in given] or rows
    return _beginning(typed, {row["name"] for row in wanted})


def on_hosts(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    """Complete --fallback; in a comma-separated list, the last entry."""
    return _last_of_list(typed, _ways())


def modes(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    """Complete --modes; in a comma-separated list, the last entry."""
    return _last_of_list(typed, {*offload_modes.WAYS, *_ways()})


def changes(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    """Complete the keys of --set."""
    return _beginning(
        typed,
        {
            f"{table['table']}.{option['key']}="
            for table in _core.fabric_schema()
            for option in table["options"]
        },
    )


def _ways() -> set[str]:
    names = {row["name"] for row in _core.selections()}
    names |= {f"nccl-{version}" for version in _core.list_presets("nccl")}
    return names | {row["name"] for row in _core.host_algorithms()} | {"best"}


def _last_of_list(typed: str, names: Iterable[str]) -> list[CompletionItem]:
    before, comma, _ = typed.rpartition(",")
    return _beginning(typed, (f"{before}{comma}{name}" for name in names))


def _beginning(typed: str, names: Iterable[str]) -> list[CompletionItem]:
    return [
        CompletionItem(name) for name in sorted(names, key=natural_order) if name.startswith(typed)
    ]
