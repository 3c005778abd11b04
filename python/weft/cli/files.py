# SPDX-License-Identifier: LGPL-2.1-only
"""File types of options and arguments, and the checks of files before a command starts.

Each option or argument that names a file has one of the types below, which define the files that a
command reads and writes. Before a command starts, `Command` checks that no output is also an input
or another output, and that all outputs can be written. If an output is standard output (`-`),
everything else goes to standard error meanwhile.
"""

import math
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from weft import _core
from weft.base import inputs, output, topology_files
from weft.base.errors import WeftError, printable, suggestion
from weft.base.units import natural_order, parse_duration, parse_size
from weft.cli import order

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def _name(value: Any, param: click.Parameter | None) -> Any:
    """Return a file name that can be displayed; refuse any other."""
    text = str(value)
    if not text:
        raise WeftError(f"{label(param)}: found ''; write the name of a file")
    if _CONTROL.search(text):
        said = printable(text).replace("\n", "\\n")
        raise WeftError(
            f"{label(param)}: found '{said}'; control characters are not allowed in names"
        )
    return value


class _File(click.Path):
    """Type of a parameter that names a file or directory."""

    def __init__(self, **more: Any) -> None:
        """Accept the arguments of `click.Path`."""
        super().__init__(path_type=Path, **more)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value if valid."""
        return super().convert(_name(value, param), param, ctx)


class Input(_File):
    """File or directory of files that a command reads."""

    def files(self, value: Any) -> Iterator[Path]:
        """Yield the files to be read."""
        path = Path(value)
        yield path
        if path.is_dir():
            yield from path.iterdir()


class Measured(Input):
    """Table of measurements that a command reads: a file, or one of data/ by name."""

    def __init__(self) -> None:
        """Accept any file."""
        super().__init__(dir_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path of the table, which must exist."""
        name = str(value)
        if not Path(name).exists():
            folder = Path(_core.__file__).parent / "data"
            shipped = {path.stem: path for path in sorted(folder.glob("*.csv"))}
            if name not in shipped:
                self.fail(
                    f"'{printable(name)}': there is no such file and no shipped table of that"
                    f" name; {suggestion(name, shipped)}",
                    param,
                    ctx,
                )
            value = shipped[name]
        return super().convert(value, param, ctx)


_FABRICS = "fabrics"
_OF_FABRICS = (".toml", ".xml", ".so")
"""Suffixes of files that are not another tool's topology."""


class NamedFile(click.ParamType[str]):
    """Path of a file that a command reads, or the name of a shipped file."""

    name = "text"

    def __init__(self, folder: str | Path) -> None:
        """Store the folder of the shipped files."""
        self._folder = folder

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value if valid."""
        name = str(_name(value, param))
        foreign = self._folder == _FABRICS and Path(name).suffix not in _OF_FABRICS
        if foreign and (said := topology_files.advice(Path(name))):
            raise WeftError(f"{name}: {said}")
        return name

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the shipped names; if none matches, the shell completes files."""
        folder = Path(_core.__file__).parent / self._folder
        names = sorted((one.stem for one in folder.glob(f"{incomplete}*.toml")), key=natural_order)
        return [CompletionItem(incomplete, type="file"), *map(CompletionItem, names)]

    def files(self, value: Any) -> Iterator[Path]:
        """Yield the candidate files."""
        yield Path(value)
        if "+" in value:  # the name of a selection, and a rules file for Open MPI
            yield Path(value.partition("+")[2])
        if "/" not in value:
            yield Path(_core.__file__).parent / self._folder / f"{value}.toml"


class Program(click.ParamType[str]):
    """Program, by path or looked up in PATH."""

    name = "text"

    def files(self, value: Any) -> Iterator[Path]:
        """Yield the program's file."""
        yield Path(shutil.which(value) or value)


class Arguments(click.types.UnprocessedParamType):
    """Arguments of a program, which may be files that it reads."""

    def files(self, value: Any) -> Iterator[Path]:
        """Yield the candidate files: the argument, or the value that it assigns to an option."""
        yield Path(value)
        yield Path(value.partition("=")[2])


class Setting(click.ParamType[str]):
    """SimGrid option, KEY:VALUE, whose value may be a file that SimGrid reads."""

    name = "text"

    def files(self, value: Any) -> Iterator[Path]:
        """Yield the candidate file."""
        yield Path(str(value).partition(":")[2])


class Output(_File):
    """File that a command writes; `-` is standard output."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value if valid."""
        path = Path(_name(value, param))
        if output.is_standard_output(path):
            return output.STANDARD_OUTPUT
        return super().convert(value, param, ctx)

    def targets(self, value: Path) -> Iterator[Path]:
        """Yield the files to be written."""
        yield value


class OutputDirectory(_File):
    """Directory for a command's output files; `names` are the file names known beforehand.

    A `whole` directory is replaced as a unit; the command checks it.
    """

    def __init__(self, names: Sequence[str] = (), *, whole: bool = False) -> None:
        """Store the known file names, and if the directory is replaced as a unit."""
        super().__init__()
        self._names = names
        self.whole = whole

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value if valid."""
        if str(value) == "-":
            raise WeftError(
                f"{label(param)}: found '-', but the command writes several files; name a directory"
            )
        return super().convert(value, param, ctx)

    def targets(self, value: Path) -> Iterator[Path]:
        """Yield the files to be written that already exist."""
        if value.is_dir():
            for name in self._names:
                yield value / name


class FiniteNumber(click.FloatRange):
    """Finite number: neither `inf` nor `nan`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value if valid."""
        number = click.FLOAT.convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return super().convert(value, param, ctx)


_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


class Duration(FiniteNumber):
    """Time in seconds, or with a unit such as 2h or 1d."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the seconds if valid."""
        if isinstance(value, str):
            seconds = parse_duration(value)
            if seconds is None and not _NUMBER.fullmatch(value.strip()):
                self.fail(
                    f"found {value!r}; write seconds, or a number with a unit: 90s, 30m, 2h, 1d",
                    param,
                    ctx,
                )
            value = value if seconds is None else seconds
        return super().convert(value, param, ctx)


class Size(click.ParamType[int]):
    """Size such as 2GiB, in bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the value if valid."""
        return value if isinstance(value, int) else parse_size(value, label(param))


INPUTS = (Input, NamedFile, Program, Arguments, Setting)
OUTPUTS = (Output, OutputDirectory)

fabric_name = NamedFile(_FABRICS)
engine_name = NamedFile("presets/progress_engine")
measured_table = Measured()

_SPELLINGS_OF_RANKS = ("-np", "--np")


class Command(click.Command):
    """Command that refuses repeated options and checks its files before it starts."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters in the order of the help, which is the same in all commands."""
        return order.ordered(super().get_params(ctx), OUTPUTS)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in groups; a single group keeps the default heading."""
        found = [
            (heading, [row for one in some if (row := one.get_help_record(ctx))])
            for heading, some in order.sections(self.get_params(ctx), OUTPUTS)
        ]
        *groups, (_, more) = found  # the last one is --help
        if len(groups) < 2:
            groups = [(order.OWN, [row for _, rows in groups for row in rows])]
        groups[-1][1].extend(more)
        for heading, rows in groups:
            with formatter.section(heading):
                formatter.write_dl(rows)

    def make_parser(self, ctx: click.Context) -> Any:
        """Also accept launchers' spellings of the number of ranks, `-np` and `--np`.

        Without these spellings, `-np 4` would mean `-n p`. Errors and help name the option `-n`.
        """
        parser = super().make_parser(ctx)
        for param in self.params:
            if isinstance(param, click.Option) and param.name == "ranks" and "-n" in param.opts:
                parser.add_option(param, _SPELLINGS_OF_RANKS, dest=param.name, action="store")
        return parser

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse repeated options, which are ambiguous; show the help where a value is missing."""
        if self._asks_for_help(ctx, args):
            args = ["--help"]
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for param, times in Counter(order).items():
            if isinstance(param, click.Option) and times > 1 and _single(param):
                raise click.UsageError(
                    f"{label(param)}: given {times} times; give it once",
                    ctx,
                )
        return super().parse_args(ctx, args)

    def _asks_for_help(self, ctx: click.Context, args: Sequence[str]) -> bool:
        """Return True if `--help` stands where the value of an option is missing."""
        with_value = {
            name
            for param in self.params
            if isinstance(param, click.Option) and not (param.is_flag or param.count)
            for name in param.opts
        }
        words = iter(args)
        for word in words:
            own = word.startswith("-") and word != "--"
            if not own and (word == "--" or not ctx.allow_interspersed_args):
                return False  # what follows belongs to the program
            if word in with_value and next(words, "") in ctx.help_option_names:
                return True
        return False

    def invoke(self, ctx: click.Context) -> Any:
        """Check the files, then invoke the command."""
        _check_encoding(self, ctx.params)
        with ExitStack() as stack:
            stack.enter_context(inputs.observed("the command"))
            if check_files(self, ctx.params):
                stack.enter_context(output.alone_on_standard_output())
            try:
                return super().invoke(ctx)
            except WeftError as error:
                raise error.in_terms_of(_labels(self)) from error.__cause__


def _labels(command: click.Command) -> dict[str, str]:
    """Return the user's names for API fields: parameter names or their options."""
    names: dict[str, str] = {}
    for param in command.params:
        said = label(param)
        names[said.lstrip("-").replace("-", "_")] = said
        names[param.name or ""] = said
        if said.startswith("--no-"):
            names[f"{said.removeprefix('--no-').replace('-', '_')}=False"] = said
        if said == "-o":
            names["output"] = said
    return names


def _single(option: click.Option) -> bool:
    return not (option.multiple or option.is_flag or option.count)


def _check_encoding(command: click.Command, values: dict[str, Any]) -> None:
    """Refuse text that is not UTF-8, which files and records require; programs may accept it."""
    for param in command.params:
        for value in _each(values.get(param.name or "")):
            try:
                if not isinstance(param.type, Arguments):
                    str(value).encode()
            except UnicodeEncodeError:
                found = printable(str(value))
                raise WeftError(f"{label(param)}: found '{found}', which is not UTF-8") from None


def check_files(command: click.Command, values: dict[str, Any]) -> bool:
    """Check that all outputs are writable without loss; return true if one is standard output."""
    read: dict[Path, str] = {}
    targets: list[tuple[str, Path]] = []
    for param in command.params:
        kind = param.type
        for value in _each(values.get(param.name or "")):
            if isinstance(kind, INPUTS):
                why = f"{label(param)} names to be read"
                read |= {path: why for path in kind.files(value)}
            elif isinstance(kind, OUTPUTS):
                targets += [(label(param), path) for path in kind.targets(value)]
            if isinstance(kind, OutputDirectory) and not kind.whole:
                output.check_directory(label(param), value)
    inputs.declare_inputs(read)
    output.check_targets(targets)
    return any(path == output.STANDARD_OUTPUT for _, path in targets)


def _each(value: Any) -> Sequence[Any]:
    if value is None:
        return ()
    return value if isinstance(value, tuple) else (value,)


def label(param: click.Parameter | None) -> str:
    """Return the user's name for an option or argument."""
    if param is None:
        return "command line"
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return (param.metavar or param.human_readable_name).rstrip(".").strip("[]").rstrip(".")


def command(name: str | None = None, **attributes: Any) -> Callable[[Callable[..., Any]], Command]:
    """Return the click decorator for weft's commands."""
    return click.command(name, cls=Command, **attributes)
