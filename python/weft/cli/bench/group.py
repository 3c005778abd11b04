# SPDX-License-Identifier: LGPL-2.1-only
"""`weft bench`: the group of its commands."""

import click
from click.exceptions import NoSuchCommand

from weft.cli.groups import help_group
from weft.study.bench.benchmarks import BENCHMARKS, Family

_GROUP = """
Run a micro-benchmark on a simulated fabric: collectives, point-to-point messages and one-sided
calls, named and timed as in the OSU micro-benchmarks (`osu_NAME` and NAME are the same), and
NCCL's collectives as in nccl-tests (`nccl-all_reduce`).

`weft bench --like FILE` simulates the benchmark of an OSU or IMB output, and shows both results.

\b
Examples:
  weft bench allreduce --fabric tofino-16 -n 16
  weft bench iallreduce --fabric tofino-16 -n 16 --sizes 1KiB:1MiB
  weft bench mbw_mr --fabric star-8 -n 8 --ppn 4
  weft bench alltoall --fabric star-8 --nodes 8 --ppn 1,2,4 --format osu
  weft bench --like osu_allreduce.txt --fabric star-8 -n 8
"""
_PREFIX = "osu_"
LIKE = "like"
# Benchmark families in the help of the group.
_LISTED: tuple[tuple[str, tuple[Family, ...]], ...] = (
    ("Collectives", ("blocking",)),
    ("Non-blocking collectives (with overlap)", ("non-blocking",)),
    ("Point-to-point", ("latency", "bandwidth", "rate")),
    ("One-sided", ("one-sided latency", "one-sided rate")),
)


class _Benchmarks(click.Group):
    """Group with one command per benchmark; a leading `--like` selects the command `like`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return weft's own commands, OSU's commands of the same names, then all other commands."""
        shadowed = (f"{_PREFIX}{name}" for name in self.commands if name in BENCHMARKS)
        return sorted({*self.commands, *shadowed, *BENCHMARKS})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; names with OSU's prefix select the OSU benchmark."""
        from weft.cli.bench.osu import command  # circular import

        if cmd_name in self.commands:
            return self.commands[cmd_name]
        name = cmd_name.removeprefix(_PREFIX)
        return command(cmd_name, BENCHMARKS[name]) if name in BENCHMARKS else None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Treat `--like FILE` before a command's name as the command `like`."""
        place = next((k for k, word in enumerate(args) if word.startswith("-")), len(args))
        options = args[place:]
        if place == 0 and any(word.partition("=")[0] == "--like" for word in options):
            words = [part for word in options for part in _without_like(word)]
            return super().parse_args(ctx, [LIKE, *words])
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve the command, or suggest similar names."""
        try:
            return super().resolve_command(ctx, args)
        except NoSuchCommand as error:
            names = self.list_commands(ctx)
            raise NoSuchCommand(error.command_name, possibilities=names, ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write benchmark names by family, below weft's own commands."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, one.get_short_help_str(80)) for name, one in sorted(self.commands.items())]
            )
        for heading, families in _LISTED:
            names = [one.name for one in BENCHMARKS.values() if one.family in families]
            with formatter.section(heading):
                formatter.write_text(", ".join(names))


def _without_like(word: str) -> list[str]:
    name, _, value = word.partition("=")
    if name != "--like":
        return [word]
    return [value] if value else []


bench = help_group("bench", _GROUP, _Benchmarks)
