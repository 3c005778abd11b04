# SPDX-License-Identifier: LGPL-2.1-only
"""Options of runs, each declared once as an annotated field of a request.

`weft run`, `weft replay`, `weft bench`, the API (`weft.run` and functions with the same options),
campaign files and their documentation derive from these fields. A new option is a field here plus
the code that uses it; then `make stub` writes the signature and docstring of `weft.run`, and `make
figures` the tables of the docs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

from weft.runs import offload_modes, value_types

MOST_RANKS = 1 << 22
"""Largest number of ranks: more than any machine can simulate, so that a typo does not hang weft.
"""
DEFAULT_FALLBACK = "openmpi-5.0"

# Groups of options in help and docs.
FABRIC, RANKS, COLLECTIVES, SIMULATION = "Fabric", "Ranks", "Collectives", "Simulation"
OUTPUT = "Output"


@dataclass(frozen=True, kw_only=True)
class RunOption:
    """Properties of an option, except for its type and default, which come from the field.

    Texts are plain. `command_line`, `api` and `campaigns` are sentences appended to the meaning in
    that context only.
    """

    flag: str
    """Flag of the command line; --no-… for a switch, which is True without it."""
    kind: value_types.Kind
    group: str
    meaning: str
    """Noun phrase without a full stop; for a switch, the meaning of True."""
    more: str = ""
    """Further sentences for all contexts."""
    off: str = ""
    """Effect of False for a switch, as an imperative."""
    absent: str = ""
    """Behaviour by default, if the default value does not state it."""
    unit: str = ""
    name: str = ""
    """Name in the API and in campaign files; the field's by default."""
    metavar: str = ""
    example: str = ""
    """Example value in command-line notation."""
    command_line: str = ""
    api: str = ""
    campaigns: str | None = None
    """None if the option is not a key of [[runs]] in campaign files."""
    replays: bool = True
    """False if a replayed trace determines the value."""
    library: bool = False
    """True if libweft.so reads the value: `Settings` has a member of the field's name."""
    recorded: bool = False
    """True if the record has the value, in a field of the same name."""


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Placement of a run on a weft fabric or on a SimGrid platform file."""

    fabric: Annotated[
        str | None,
        RunOption(
            flag="--fabric",
            kind=value_types.FabricName(),
            group=FABRIC,
            meaning="Fabric to run on: a fabric file, or the name of a shipped one",
            metavar="FILE|NAME",
            command_line="`weft fabric list` has the names.",
            api="Or a `weft.Fabric`.",
            campaigns="Paths are relative to the campaign's folder.",
        ),
    ] = None
    platform: Annotated[
        Path | None,
        RunOption(
            flag="--platform",
            kind=value_types.InputFile(),
            group=FABRIC,
            meaning="SimGrid platform to run on instead of a fabric (.xml or .so)",
            more="Smart switches are hosts with the properties processing_latency and max_ports.",
            metavar="FILE",
            command_line="Required unless --fabric is given.",
        ),
    ] = None
    contention: Annotated[
        bool,
        RunOption(
            flag="--no-contention",
            kind=value_types.Switch(),
            group=FABRIC,
            meaning="Link contention between messages",
            off="Disable link contention: each message gets the full bandwidth of every link on its"
            " route (SimGrid's sharing policy FATPIPE); only without offloading",
            campaigns="",
            library=True,
            recorded=True,
        ),
    ] = True
    changes: Annotated[
        tuple[str, ...],
        RunOption(
            flag="--set",
            kind=value_types.Changes(),
            group=FABRIC,
            name="set",
            meaning="Values that override keys of the fabric file",
            metavar="TABLE.KEY=VALUE",
            command_line="For example switch.slots=64 or link.bandwidth=400Gbps; repeatable. `weft"
            " fabric options` lists all keys.",
            api='For example `{"switch.slots": 64}`; `weft.fabric_options()` lists all keys.',
        ),
    ] = ()
    traffic: Annotated[
        Path | None,
        RunOption(
            flag="--traffic",
            kind=value_types.InputFile(),
            group=FABRIC,
            meaning="File of background traffic: messages between hosts that no rank sends",
            metavar="FILE",
            campaigns="Paths are relative to the campaign's folder.",
        ),
    ] = None
    faults: Annotated[
        Path | None,
        RunOption(
            flag="--faults",
            kind=value_types.InputFile(),
            group=FABRIC,
            meaning="File of faults: links, switches and hosts that fail while the program runs",
            metavar="FILE",
            command_line="`--set fault.KEY=VALUE` and `recovery.KEY=VALUE` override its keys.",
            api='`set={"recovery.KEY": VALUE}` and `"fault.KEY"` override its keys.',
            campaigns="Paths are relative to the campaign's folder.",
        ),
    ] = None
    ranks: Annotated[
        int,
        RunOption(
            flag="-n",
            kind=value_types.Count(1, MOST_RANKS),
            group=RANKS,
            meaning="Number of MPI ranks",
            metavar="RANKS",
            command_line="`-np` and `--np` mean the same.",
            campaigns="",
            replays=False,
        ),
    ]
    ppn: Annotated[
        int | None,
        RunOption(
            flag="--ppn",
            kind=value_types.Count(1, MOST_RANKS),
            group=RANKS,
            meaning="Ranks per host; consecutive ranks share a host",
            absent="1 if there are enough hosts, else as few as possible",
            metavar="RANKS",
            campaigns="",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Collectives:
    """Execution of collectives."""

    offload: Annotated[
        str,
        RunOption(
            flag="--offload",
            kind=value_types.Choice(offload_modes.OFFLOADS),
            group=COLLECTIVES,
            meaning="Mechanism that executes collectives in the network",
            more="; ".join(f"{mode}: {what}" for mode, what in offload_modes.meanings().items())
            + ".",
            campaigns="",
            library=True,
        ),
    ] = offload_modes.DEFAULT
    fallback: Annotated[
        str | None,
        RunOption(
            flag="--fallback",
            kind=value_types.Algorithms(),
            group=COLLECTIVES,
            meaning="Host algorithms of collectives that are not offloaded",
            more="An MPI library's selection, by name or file; a version of NCCL (nccl-2.29); an"
            " algorithm (recursive_doubling); an algorithm per collective (bcast=binomial,"
            " bcast=best); SMPI's algorithms as smpi:NAME; or best: for each call the fastest"
            " algorithm by prediction. Separate several with commas.",
            absent=DEFAULT_FALLBACK,
            metavar="WHAT",
            command_line="`weft collectives list` has the names.",
            api="`weft.collective_algorithms()` and `weft.collective_selections()` list them.",
            campaigns="Paths are relative to the campaign's folder.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """Simulation by SimGrid."""

    host_speed: Annotated[
        str | None,
        RunOption(
            flag="--host-speed",
            kind=value_types.Text(),
            group=SIMULATION,
            meaning="Speed of this machine, from which the time of computation is derived",
            more="For example 10Gf, or auto to measure it.",
            absent="computation takes no simulated time",
            metavar="SPEED|auto",
            campaigns="",
            replays=False,
            recorded=True,
        ),
    ] = None
    point_to_point: Annotated[
        str,
        RunOption(
            flag="--messages",
            kind=value_types.Choice(("weft", "smpi")),
            group=SIMULATION,
            name="messages",
            meaning="Transport of point-to-point messages",
            more="weft: weft's own matching and network model, on fabrics; smpi: SimGrid's MPI,"
            " with simulated times equal to a few nanoseconds, in more CPU time.",
            campaigns="",
            library=True,
        ),
    ] = "weft"
    strict: Annotated[
        bool,
        RunOption(
            flag="--strict",
            kind=value_types.Switch(),
            group=SIMULATION,
            meaning="Refuse values outside what was measured with the fabric's presets: rate of the"
            " cables, hosts, ranks per host, sizes of calls, changed values",
        ),
    ] = False
    privatize: Annotated[
        bool,
        RunOption(
            flag="--no-privatize",
            kind=value_types.Switch(),
            group=SIMULATION,
            meaning="Separate global variables for each rank",
            off="Let all ranks share the program's global variables: saves memory and start-up time"
            " with thousands of ranks; correct only for programs that write no global variable",
            replays=False,
        ),
    ] = True
    tunings: Annotated[
        str | None,
        RunOption(
            flag="--tunings",
            kind=value_types.Text(),
            group=SIMULATION,
            meaning="Optimisations of SimGrid that the run uses; they change no simulated time",
            more="Values: all; none; NAME,… for only these; -NAME,… for all but these.",
            metavar="WHAT",
            absent="all",
            example="-waits,-stacks",
            command_line="`weft --version` lists them.",
            campaigns="",
            library=True,
        ),
    ] = None
    config: Annotated[
        tuple[str, ...],
        RunOption(
            flag="--cfg",
            kind=value_types.Settings(),
            group=SIMULATION,
            name="cfg",
            meaning="SimGrid options",
            metavar="KEY:VALUE",
            command_line="Repeatable.",
            api='For example `{"smpi/wtime": 0}`, or a list of KEY:VALUE.',
            campaigns="A text of KEY:VALUE, several separated by commas; a list has a text for each"
            " run.",
            recorded=True,
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Resource limits of a run."""

    timeout_s: Annotated[
        float | None,
        RunOption(
            flag="--timeout",
            kind=value_types.Seconds(),
            group=SIMULATION,
            name="timeout",
            meaning="Wall-time limit of the run",
            unit="seconds",
            metavar="TIME",
            command_line="In seconds, or with a unit: 90s, 30m, 2h, 1d.",
            api="The record states that the run reached it.",
        ),
    ] = None
    memory_bytes: Annotated[
        int | None,
        RunOption(
            flag="--memory",
            kind=value_types.Size(),
            group=SIMULATION,
            name="memory",
            meaning="Memory limit of the simulator, such as 2GiB",
            more="Checked twenty times per second.",
            metavar="SIZE",
            api="The record states that the run reached it.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """Files written in addition to the record."""

    timeline: Annotated[
        Path | None,
        RunOption(
            flag="--trace",
            kind=value_types.OutputFile(),
            group=OUTPUT,
            meaning="File for a timeline of all ranks and switches, for ui.perfetto.dev",
            metavar="FILE",
        ),
    ] = None
    files: Annotated[
        Path | None,
        RunOption(
            flag="--files",
            replays=False,
            kind=value_types.Directory(),
            group=OUTPUT,
            meaning="Directory in which the program runs: that of its files with relative names",
            more="Made if it does not exist.",
            absent="the current directory",
            metavar="DIRECTORY",
        ),
    ] = None
    isolated: bool = False
    """True for repeated runs on a fabric with storage: each runs in its own directory of links to
    the files in the current directory."""
    calls: Path | None = None
    """File with all calls, for a weft trace."""
    messages: Path | None = None
    """File with the hosts of every message between two hosts: two int32 per message."""


PARTS = {
    "placement": Placement,
    "collectives": Collectives,
    "simulation": Simulation,
    "limits": Limits,
    "outputs": Outputs,
}
"""Option groups of a request, by field name."""


@dataclass(frozen=True)
class DeclaredOption:
    """Option and its field."""

    option: RunOption
    field: str
    type: Any
    default: Any
    """`dataclasses.MISSING` if the option is required."""

    @property
    def name(self) -> str:
        """Name in the API and in campaign files."""
        return self.option.name or self.field

    @property
    def required(self) -> bool:
        """True if the option is required."""
        return self.default is MISSING


@cache
def run_options() -> tuple[DeclaredOption, ...]:
    """Return all options in the order of help and docs."""
    return tuple(one for part in PARTS.values() for one in _declared(part))


def run_option(field_name: str) -> DeclaredOption:
    """Return the option of a field."""
    return next(one for one in run_options() if one.field == field_name)


def _declared(part: type) -> Iterator[DeclaredOption]:
    hints = get_type_hints(part, include_extras=True)
    for one in fields(part):
        kind, *more = get_args(hints[one.name]) or [None]
        for option in more:
            if isinstance(option, RunOption):
                yield DeclaredOption(option, one.name, kind, one.default)


def api_names() -> dict[str, str]:
    """Return the API names of fields whose API name differs."""
    return {one.field: one.name for one in run_options() if one.name != one.field}


def sentences(*texts: str) -> str:
    """Join non-empty texts as sentences."""
    return " ".join(text if text.endswith(".") else f"{text}." for text in texts if text)


# ---- Short forms of --set


@dataclass(frozen=True)
class Shortcut:
    """Command-line option that sets a fabric key, as --set does."""

    flag: str
    change: str
    """Text of the change, with {} for the value."""
    kind: value_types.Kind
    metavar: str
    meaning: str

    @property
    def field(self) -> str:
        """Parameter name of the option."""
        return self.flag.removeprefix("--").replace("-", "_")


SHORTCUTS: Sequence[Shortcut] = (
    Shortcut(
        "--chains",
        "multicast.chains={}",
        value_types.Count(1),
        "N",
        "Roots of an Allgather that multicast concurrently",
    ),
    Shortcut(
        "--trees",
        "multicast.trees={}",
        value_types.Count(1),
        "N",
        "Multicast trees that share the data",
    ),
    Shortcut(
        "--drop-rate",
        "multicast.drops=[{{probability={}}}]",
        value_types.Probability(),
        "RATE",
        "Fraction of multicast chunks that each receiver loses, from 0 to 1",
    ),
    Shortcut(
        "--network",
        "network.model={}",
        value_types.Choice(("flows", "packets")),
        "flows|packets",
        "Messages between hosts as flows that share links, or as packets that queue",
    ),
    Shortcut(
        "--seed",
        "noise.seed={}",
        value_types.Count(0, 2**31 - 1),
        "N",
        "Seed of the fabric's noise: the same seed gives the same run",
    ),
)
