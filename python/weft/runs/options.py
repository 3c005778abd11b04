# SPDX-License-Identifier: LGPL-2.1-only
"""Options of runs, each declared once: a field of a request, and in its annotation all else.

`weft run`, `weft replay`, `weft bench`, the API (`weft.run` and what takes its options), campaign
files and their documentation derive from these fields. A new option is a field here and the code
that uses it; then `make stub` writes the signature and docstring of `weft.run`, and `make figures`
the tables of documents.
"""

from collections.abc import Iterator, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

from weft.runs import kinds, offloads

MOST_RANKS = 1 << 22
"""Of a run: more than a machine holds, so that a typo is no hang."""
DEFAULT_FALLBACK = "openmpi-5.0"

# Groups of options in help and documents.
FABRIC, RANKS, COLLECTIVES, SIMULATION = "Fabric", "Ranks", "Collectives", "Simulation"
OUTPUT = "Output"


@dataclass(frozen=True, kw_only=True)
class RunOption:
    """All of an option but its type and default, which are its field's.

    Texts are plain; what `command_line`, `api` and `campaigns` add to the meaning are sentences
    that hold there alone.
    """

    flag: str
    """As the command line has it; --no-… of a switch, which is True without it."""
    kind: kinds.Kind
    group: str
    meaning: str
    """A noun phrase, without a full stop; of a switch, what True means."""
    more: str = ""
    """Further sentences, wherever the option is explained."""
    off: str = ""
    """Of a switch: what False does, as a command."""
    absent: str = ""
    """What holds by default, where the default itself does not say it."""
    unit: str = ""
    name: str = ""
    """In the API and in campaign files; by default that of the field."""
    metavar: str = ""
    example: str = ""
    """A value, as the command line has it."""
    command_line: str = ""
    api: str = ""
    campaigns: str | None = None
    """None where campaign files do not have it as a key of [[runs]]."""
    replays: bool = True
    """False where a trace says it."""


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Where a run is: on a fabric of weft's, or on a platform file of SimGrid's."""

    fabric: Annotated[
        str | None,
        RunOption(
            flag="--fabric",
            kind=kinds.FabricName(),
            group=FABRIC,
            meaning="Fabric to run on: a fabric file, or the name of a shipped one",
            metavar="FILE|NAME",
            command_line="`weft fabric list` has the names.",
            api="Or a `weft.Fabric`.",
            campaigns="Paths begin in the campaign's folder.",
        ),
    ] = None
    platform: Annotated[
        Path | None,
        RunOption(
            flag="--platform",
            kind=kinds.InputFile(),
            group=FABRIC,
            meaning="SimGrid platform to run on in place of a fabric (.xml or .so)",
            more="Its smart switches are hosts with the properties processing_latency and"
            " max_ports.",
            metavar="FILE",
            command_line="Either this or --fabric must be given.",
        ),
    ] = None
    contention: Annotated[
        bool,
        RunOption(
            flag="--no-contention",
            kind=kinds.Switch(),
            group=FABRIC,
            meaning="Link contention between messages",
            off="Give each message the full bandwidth of every link of its route (SimGrid's sharing"
            " policy FATPIPE); only without offloading",
            campaigns="",
        ),
    ] = True
    changes: Annotated[
        tuple[str, ...],
        RunOption(
            flag="--set",
            kind=kinds.Changes(),
            group=FABRIC,
            name="set",
            meaning="Values of the fabric's keys that replace those of its file",
            metavar="TABLE.KEY=VALUE",
            command_line="For example switch.slots=64 or link.bandwidth=400Gbps; repeatable. `weft"
            " fabric options` lists all keys.",
            api='For example `{"switch.slots": 64}`; `weft.fabric_options()` lists all keys.',
        ),
    ] = ()
    ranks: Annotated[
        int,
        RunOption(
            flag="-n",
            kind=kinds.Count(1, MOST_RANKS),
            group=RANKS,
            meaning="Number of MPI ranks",
            metavar="RANKS",
            campaigns="",
            replays=False,
        ),
    ]
    ppn: Annotated[
        int | None,
        RunOption(
            flag="--ppn",
            kind=kinds.Count(1, MOST_RANKS),
            group=RANKS,
            meaning="Ranks per host, placed block by block",
            absent="1 while there are hosts enough, else as few as possible",
            metavar="RANKS",
            campaigns="",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Collectives:
    """How collectives are executed."""

    offload: Annotated[
        str,
        RunOption(
            flag="--offload",
            kind=kinds.Choice(offloads.OFFLOADS),
            group=COLLECTIVES,
            meaning="Mechanism that executes collectives in the network",
            more="; ".join(f"{mode}: {what}" for mode, what in offloads.meanings().items()) + ".",
            campaigns="",
        ),
    ] = offloads.DEFAULT
    fallback: Annotated[
        str | None,
        RunOption(
            flag="--fallback",
            kind=kinds.Algorithms(),
            group=COLLECTIVES,
            meaning="Algorithms of the hosts where nothing is offloaded",
            more="An MPI library's choice of algorithms, or a file of one; best: for each call the"
            " fastest of all algorithms, as predicted; an algorithm (recursive_doubling); one for a"
            " collective (bcast=binomial, bcast=best); several with commas; SMPI's algorithms as"
            " smpi:NAME.",
            absent=DEFAULT_FALLBACK,
            metavar="WHAT",
            command_line="`weft collectives list` names them.",
            api="`weft.collective_algorithms()` and `weft.collective_selections()` list them.",
            campaigns="Files are found in the campaign's folder.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """How SimGrid simulates it."""

    host_speed: Annotated[
        str | None,
        RunOption(
            flag="--host-speed",
            kind=kinds.Text(),
            group=SIMULATION,
            meaning="Speed of this machine, by which computation on the hosts is timed",
            more="For example 10Gf, or auto to measure it.",
            absent="computation takes no simulated time",
            metavar="SPEED|auto",
            campaigns="",
            replays=False,
        ),
    ] = None
    privatize: Annotated[
        bool,
        RunOption(
            flag="--no-privatize",
            kind=kinds.Switch(),
            group=SIMULATION,
            meaning="Separate global variables for each rank",
            off="Let all ranks share the program's global variables: far less memory and a faster"
            " start with thousands of ranks, right only for a program that writes no global"
            " variable",
            replays=False,
        ),
    ] = True
    config: Annotated[
        tuple[str, ...],
        RunOption(
            flag="--cfg",
            kind=kinds.Settings(),
            group=SIMULATION,
            name="cfg",
            meaning="Options of SimGrid",
            metavar="KEY:VALUE",
            command_line="Repeatable.",
            api='For example `{"smpi/wtime": 0}`, or KEY:VALUE each.',
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a run may take."""

    timeout_s: Annotated[
        float | None,
        RunOption(
            flag="--timeout",
            kind=kinds.Seconds(),
            group=SIMULATION,
            name="timeout",
            meaning="Wall time after which the run is given up",
            unit="seconds",
            metavar="SECONDS",
            api="The record then says so.",
        ),
    ] = None
    memory_bytes: Annotated[
        int | None,
        RunOption(
            flag="--memory",
            kind=kinds.Size(),
            group=SIMULATION,
            name="memory",
            meaning="Memory of the simulator above which the run is ended, such as 2GiB",
            more="It is checked twenty times a second.",
            metavar="SIZE",
            api="The record then says so.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """What is written beside the record."""

    timeline: Annotated[
        Path | None,
        RunOption(
            flag="--trace",
            kind=kinds.OutputFile(),
            group=OUTPUT,
            meaning="File for a timeline of all ranks and switches, for ui.perfetto.dev",
            metavar="FILE",
        ),
    ] = None
    calls: Path | None = None
    """File for every call, for a trace of weft's own."""
    messages: Path | None = None
    """File for the hosts of every message between two: int32, two each."""


PARTS = {
    "placement": Placement,
    "collectives": Collectives,
    "simulation": Simulation,
    "limits": Limits,
    "outputs": Outputs,
}
"""Parts of a request that consist of options, by the names of its fields."""


@dataclass(frozen=True)
class Declared:
    """An option with its field."""

    option: RunOption
    field: str
    type: Any
    default: Any
    """`dataclasses.MISSING` where it must be given."""

    @property
    def name(self) -> str:
        """What the API and campaign files call it."""
        return self.option.name or self.field

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is MISSING


@cache
def run_options() -> tuple[Declared, ...]:
    """Return all options, in the order of help and documents."""
    return tuple(one for part in PARTS.values() for one in _declared(part))


def run_option(field_name: str) -> Declared:
    """Return the option of a field."""
    return next(one for one in run_options() if one.field == field_name)


def _declared(part: type) -> Iterator[Declared]:
    hints = get_type_hints(part, include_extras=True)
    for one in fields(part):
        kind, *more = get_args(hints[one.name]) or [None]
        for option in more:
            if isinstance(option, RunOption):
                yield Declared(option, one.name, kind, one.default)


def api_names() -> dict[str, str]:
    """Return what the API calls the fields that it calls otherwise."""
    return {one.field: one.name for one in run_options() if one.name != one.field}


def sentences(*texts: str) -> str:
    """Return texts as sentences, leaving out empty ones."""
    return " ".join(text if text.endswith(".") else f"{text}." for text in texts if text)


# ---- Short forms of --set


@dataclass(frozen=True)
class Shortcut:
    """An option of the command line that gives a key of the fabric a value, as --set does."""

    flag: str
    change: str
    """Of which {} is the value."""
    kind: kinds.Kind
    metavar: str
    meaning: str

    @property
    def field(self) -> str:
        """Its parameter's name."""
        return self.flag.removeprefix("--").replace("-", "_")


SHORTCUTS: Sequence[Shortcut] = (
    Shortcut(
        "--chains",
        "multicast.chains={}",
        kinds.Count(1),
        "N",
        "Roots of an Allgather that multicast at the same time",
    ),
    Shortcut(
        "--trees",
        "multicast.trees={}",
        kinds.Count(1),
        "N",
        "Multicast trees among which the data is divided",
    ),
    Shortcut(
        "--drop-rate",
        "multicast.drops=[{{probability={}}}]",
        kinds.Probability(),
        "RATE",
        "Part of the multicast chunks that each receiver misses, from 0 to 1",
    ),
    Shortcut(
        "--seed",
        "noise.seed={}",
        kinds.Count(0, 2**31 - 1),
        "N",
        "Seed of the fabric's noise: the same seed gives the same run",
    ),
)
