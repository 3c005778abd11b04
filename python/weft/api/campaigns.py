# SPDX-License-Identifier: LGPL-2.1-only
"""Campaigns, read from a file or defined in Python, with the same strict reader and store."""

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from weft.api.compiling import is_source
from weft.api.fabrics import Fabric
from weft.api.input_checks import PathLike, Word, call, whole, words
from weft.api.progress import Line
from weft.api.results import Results, Status, status_of
from weft.base import inputs
from weft.base.errors import WeftError
from weft.base.options import Options
from weft.base.output import whole_file
from weft.base.paths import file_name
from weft.base.units import plural
from weft.campaign import campaign as campaigns
from weft.campaign.campaign import Prepared
from weft.campaign.cluster import file as cluster_file
from weft.campaign.execution.work import TaskResult
from weft.campaign.file import file as files
from weft.campaign.file.runs import Run
from weft.runs.html import table as html_table

if TYPE_CHECKING:
    from polars import DataFrame

__all__ = ["Campaign", "Program", "Progress"]

AxisValue = str | int | float | bool | os.PathLike[str] | Fabric
Axes = Mapping[str, AxisValue | Sequence[AxisValue]]
"""Keys of the runs, each with a value or a list of values; runs are the Cartesian product."""
Conditions = Sequence[Mapping[str, AxisValue | Sequence[AxisValue]]]
_MOST_JOBS = 1024


@dataclass(frozen=True, kw_only=True)
class Program:
    """Program of a campaign: source to compile, executable, jobs file, model or training trace."""

    source: PathLike | None = None
    """Source file in C, C++ or Fortran, relative to the campaign's folder."""
    path: PathLike | None = None
    """Path of an executable, instead of a source."""
    model: PathLike | None = None
    """Training file or preset of a model, instead of a source; its runs have no `ranks`."""
    trace: PathLike | None = None
    """Training trace, instead of a source; its runs have no `ranks`."""
    jobs: PathLike | None = None
    """Jobs file, instead of a source; its runs have no `ranks`."""
    allgather_size: Literal["input", "total"] | None = None
    """With a Chakra trace: meaning of an Allgather's size."""
    process_groups: PathLike | None = None
    """With a Chakra trace: JSON file with the ranks of process groups."""
    logical_dimensions: Sequence[int] = ()
    """With a Chakra trace: ranks in each dimension of ASTRA-sim's logical topology."""
    arguments: Sequence[Word] = ()
    """`{KEY}` is replaced with the value of an axis, `{KEY:B}` with a size in bytes."""
    flags: Sequence[str] = ()
    """Compiler flags for a source, in addition to -O2."""
    build: str = ""
    """Shell command that builds the program at `path`."""
    privatize: bool = True
    """False is correct only for programs that write no global variable, and uses far less memory.
    """


@dataclass
class Progress:
    """Progress of a running campaign."""

    name: str
    total: int
    """Number of distinct runs."""
    ended: int
    """Runs that have ended, including runs that had ended before."""
    running: int = 0
    """Runs in progress."""
    states: Counter[str] = field(default_factory=Counter)
    """Runs that have ended in this call, by state: `done`, `failed`, `refused`."""
    last: str = ""
    """Reason of the latest failure or refusal."""
    note: str = ""
    """Reason why runs are waiting on a cluster."""

    def __str__(self) -> str:
        """Return a one-line summary."""
        told = ", ".join(f"{n:,} {state}" for state, n in self.states.items())
        note = f" ({self.note})" if self.note else ""
        return f"{self.name}: {self.ended:,} of {self.total:,}{': ' if told else ''}{told}{note}"


OnProgress = Callable[[Progress], object]


class Campaign:
    """Set of runs over programs, fabrics, sizes and other parameters.

    Results are stored in a folder, keyed by everything that determines them, so that no run is
    executed twice: see [docs/campaigns.md](../campaigns.md).

        campaign = weft.Campaign(
            "slots",
            programs={"sum": weft.Program(source="sum.c", arguments=["{bytes:B}", "10"])},
            axes={
                "fabric": "tofino-16",
                "ranks": [4, 16],
                "bytes": ["1KiB", "64KiB"],
                "offload": ["stream", "off"],
                "switch.slots": [64, 256],
            },
            leave_out=[{"offload": "off", "switch.slots": 64}],
        )
        campaign.run().frame()

    Attributes:
        name: Name of the campaign.
        store: The folder of its results.
    """

    @call
    def __init__(
        self,
        campaign: PathLike,
        *,
        programs: Mapping[str, Program | PathLike] | None = None,
        axes: Axes | Sequence[Axes] | None = None,
        zip: Sequence[Sequence[str]] = (),
        leave_out: Conditions = (),
        timeout: float | str | None = None,
        memory: int | str | None = None,
        most_runs: int | None = None,
        baseline: Mapping[str, AxisValue] | None = None,
        best: bool = True,
        intervals: bool = True,
        description: str = "",
        folder: PathLike = ".",
        store: PathLike | None = None,
    ) -> None:
        """Read a campaign file, or define a campaign in Python.

        Args:
            campaign: A campaign file or, with `programs` and `axes`, the campaign's name.
            programs: Programs by name: a `Program`, or the path of a source or program.
            axes: Keys with their values: `fabric` and `ranks`; other keys of `[[runs]]` in campaign
                files (`offload`, `ppn`, `repetition` …); keys of fabrics, TABLE.KEY; the names in
                braces in the programs' arguments; and for models, keys of the training file,
                TABLE.KEY. `program` defaults to all programs. A list contains several tables, each
                with its own `zip` and `leave_out`.
            zip: Lists of keys that vary together, `[["ranks", "ppn"]]`.
            leave_out: A combination is omitted if every key of one of these tables has a value
                listed there.
            timeout: Limit on a run's wall time: seconds, or a text such as "60s".
            memory: Limit on a run's memory: bytes, or a text such as "2GiB".
            most_runs: Limit on the number of combinations; by default 100,000.
            baseline: The key and value of the runs that reports compare all others with, such as
                `{"fabric": "tofino-4"}`. By default the runs with `offload` "off", if any.
            best: Repeat the host runs with the fastest algorithms, to determine the gain over the
                best algorithms. This adds one run per host run.
            intervals: For fabrics with calibration intervals, repeat all runs at both ends of each
                value's interval, to determine the interval of each gain. This adds two runs per
                value and run.
            description: Description for readers.
            folder: Base of relative paths.
            store: The folder of the results. By default FILE or name with the suffix `.runs`.

        Raises:
            WeftError: A key or value is wrong; the text names it.
        """
        if (programs is None) != (axes is None):
            lacking = "axes" if axes is None else "programs"
            raise WeftError(f"{lacking}: is missing; a campaign file has both, or the call does")
        self._tables: dict[str, object] | None = None
        if programs is None or axes is None:
            self._campaign = files.read(Path(campaign))
        else:
            name = os.fspath(campaign)
            about = {
                "name": name,
                "description": description,
                "timeout": timeout if isinstance(timeout, str | None) else f"{timeout}s",
                "memory": memory if isinstance(memory, str | None) else f"{memory}B",
                "most_runs": most_runs,
                "best": None if best else False,
                "intervals": None if intervals else False,
            }
            self._tables = {
                "campaign": {key: value for key, value in about.items() if value not in (None, "")},
                "programs": {key: _program(key, one) for key, one in programs.items()},
                "runs": _runs(axes, list(programs), zip, leave_out),
            }
            if baseline is not None:
                self._tables["report"] = {"baseline": _plain(baseline)}
            source = Options(f"campaign {name}", "", self._tables)
            place = Path(folder) / f"{file_name('campaign', name)}.toml"
            self._campaign = files.of_tables(source, place)
        self.name = self._campaign.name
        self.store = self._campaign.file.with_suffix(".runs") if store is None else Path(store)
        self._prepared: Prepared | None = None

    def _prepare(self, *, look: bool = True) -> Prepared:
        """Build the programs and resolve the fabrics, which determine the matching results."""
        self._prepared = campaigns.prepare_read(self._campaign, self.store, look=look)
        self._read = inputs.current()
        return self._prepared

    @call
    def plan(self) -> "DataFrame":
        """Return all combinations: their keys, `run` and `state`; no run is started.

        Programs are built, because results depend on their content. `state` is `done`, `failed`,
        `refused`, or `missing` if there is no result.
        """
        return Results(self._prepare()).frame(missing=True)

    @call
    def run(
        self,
        *,
        progress: bool | OnProgress = True,
        jobs: int | None = None,
        strict: bool = False,
        again: bool = False,
        cluster: PathLike | None = None,
    ) -> "Results":
        """Execute the missing runs, and return all results.

        After Ctrl-C, completed runs are kept and the same call resumes.

        Args:
            progress: True to show progress; or a function, called with a `Progress` after each run.
            jobs: Concurrent runs. By default one per core, as far as memory allows.
            strict: Refuse to run with values outside the measured ranges of the fabrics' presets.
            again: Repeat runs that have failed or were refused.
            cluster: Submit the runs to the cluster that this file describes; `local` uses the same
                engine on this machine.

        Raises:
            WeftError: A program does not build, the store cannot be used, no combination can be
                run, or the cluster executes no runs.
        """
        if jobs is not None:
            whole("jobs", jobs, 1, _MOST_JOBS)
        where = cluster_file.chosen(Path(cluster) if cluster is not None else None, jobs)
        prepared = self._prepare(look=False)
        if strict:
            campaigns.refuse_unmeasured(prepared)
        if again:
            campaigns.forget_failures(prepared)
        total = len(prepared.every)
        so_far = Progress(self.name, total, total - len(prepared.missing()))
        line = Line() if progress is True else None

        def take(_run: Run, done: TaskResult) -> None:
            so_far.states[done.state] += 1
            so_far.ended += 1
            so_far.last = done.message or so_far.last
            so_far.note = ""
            if callable(progress):
                progress(so_far)
            elif line is not None:
                line.show(str(so_far))

        def being_made(number: int) -> None:
            so_far.running = number

        def note(text: str) -> None:
            so_far.note = text
            if line is not None:
                line.show(str(so_far))

        make = campaigns.on_cluster(where, note)
        campaigns.carry_out(prepared, take, jobs, being_made, make)
        if line is not None:
            line.end(str(status_of(prepared)))
        return Results(prepared)

    @call
    def status(self) -> Status:
        """Return the numbers of ended runs by outcome, and of remaining runs."""
        return status_of(self._prepare())

    @call
    def results(self) -> "Results":
        """Return the results so far."""
        return Results(self._prepared or self._prepare())

    @call
    def report(self, path: PathLike) -> None:
        """Write `results().report(path)`."""
        self.results().report(path)

    @call
    def frame(self, *, missing: bool = False) -> "DataFrame":
        """Return `results().frame()`."""
        return self.results().frame(missing=missing)

    @call
    def save(self, path: PathLike) -> None:
        """Write a campaign defined in Python as a file for `weft campaign`.

        Its paths become relative to the file's folder.
        """
        import tomlkit

        if self._tables is None:
            text = self._campaign.file.read_text(encoding="utf-8")
        else:
            text = tomlkit.dumps(self._tables)
        with whole_file("path", Path(path)) as file:
            file.write(text)

    def __repr__(self) -> str:
        """Return the name and the number of combinations."""
        return f"<Campaign {self.name}: {plural(sum(1 for _ in self._campaign.points()), 'run')}>"

    def __str__(self) -> str:
        """Return name, description, and each key with its values."""
        rows = [f"  {row['key']}: {row['values']}" for row in self._values()]
        return "\n".join(filter(None, [repr(self), self._campaign.description, *rows]))

    def _values(self) -> list[dict[str, str]]:
        return [
            {"key": key, "values": ", ".join(map(str, values))}
            for grid in self._campaign.grids
            for key, values in grid.values.items()
        ]

    def _repr_html_(self) -> str:
        lines = [escape(repr(self)), escape(self._campaign.description)]
        return f"<div>{'<br>'.join(filter(None, lines))}{html_table(self._values())}</div>"


# ---- Arguments in the form of a campaign file


_PATHS = ("source", "path", "model", "trace", "jobs", "process_groups")
"""Fields of a `Program` that are paths."""


def _path_text(value: PathLike | None) -> str | None:
    return None if value is None else os.fspath(value)


def _program(name: str, given: Program | PathLike) -> dict[str, object]:
    if isinstance(given, str | os.PathLike):
        given = Program(source=given) if is_source(given) else Program(path=given)
    if not isinstance(given, Program):
        raise WeftError(f"programs: found {given!r} for {name!r}; write a path or a weft.Program")
    table = asdict(given)
    table |= {
        "arguments": list(words(f"programs: {name}: arguments", given.arguments)),
        "flags": list(words(f"programs: {name}: flags", given.flags)),
        "logical_dimensions": list(given.logical_dimensions),
        **{key: _path_text(table[key]) for key in _PATHS},
    }
    no_program = (given.model, given.trace, given.jobs)
    if any(one is not None for one in no_program) and given.privatize:
        del table["privatize"]
    return {key: value for key, value in table.items() if value not in (None, "", [])}


def _runs(
    axes: Axes | Sequence[Axes],
    programs: Sequence[str],
    zipped: Sequence[Sequence[str]],
    leave_out: Conditions,
) -> list[dict[str, object]]:
    several = not isinstance(axes, Mapping)
    tables = list(axes) if not isinstance(axes, Mapping) else [axes]
    if several and (zipped or leave_out):
        raise WeftError("zip, leave_out: write them in each table of axes where there are several")
    rules: dict[str, object] = {"zip": list(map(list, zipped)), "leave_out": list(leave_out)}
    given = {key: value for key, value in rules.items() if value}
    usual = {"program": list(programs)}
    return [
        {key: _plain(value) for key, value in {**usual, **table, **given}.items()}
        for table in tables
    ]


def _plain(value: object) -> object:
    """Convert values to TOML types: no tuples, paths, ranges or fabrics."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, Fabric):
        if value.changes:
            raise WeftError(
                f"fabric: found {value!r}; give the fabric as its file has it, and the keys that"
                " differ as axes"
            )
        return str(value.file)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    # NumPy numbers, such as those in its ranges, are not instances of Python's number types.
    return value.item() if hasattr(value, "item") and hasattr(value, "dtype") else value
