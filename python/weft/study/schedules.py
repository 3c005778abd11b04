# SPDX-License-Identifier: LGPL-2.1-only
"""Messages of the host algorithms of MPI libraries for collectives: tables and pictures."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from weft import _core
from weft.base import plots
from weft.base.errors import WeftError, named, suggestion
from weft.base.output import whole_file
from weft.base.units import format_size

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEFAULT_SELECTION = "openmpi-5.0"
ROOTED = frozenset({"bcast", "gather", "gatherv", "reduce", "scatter", "scatterv"})
WHOLE = frozenset({"allreduce", "bcast", "exscan", "reduce", "scan"})
"""Collectives with one vector per rank; all others use a block to or from each rank."""
MOST_DRAWN = 64
"""Maximum number of ranks in a picture."""


class Algorithm(NamedTuple):
    """Algorithm for a collective."""

    collective: str
    name: str
    number: int
    """Open MPI's number of the algorithm; 0 without one."""
    source: str
    """Library from which the algorithm comes."""
    any_operation: bool
    """True if non-commutative operations are supported."""
    two_ranks: bool
    """True if the algorithm is limited to communicators of two ranks."""
    one_host: bool
    """True if the algorithm is limited to ranks on one host."""


class Message(NamedTuple):
    """Message, which takes one round."""

    round: int
    sender: int
    receiver: int
    bytes: int


@dataclass(frozen=True)
class Case:
    """Collective call, and the selection or algorithm that executes it."""

    collective: str
    ranks: int
    bytes: int = 0
    """Size of the vector of a Bcast or a reduction; otherwise, size of a rank's block."""
    root: int = 0
    element_bytes: int = 1
    """Granularity at which libraries split vectors."""
    selection: str = DEFAULT_SELECTION
    algorithm: str = ""
    """Name that overrides the selection."""
    segment_bytes: int = 0
    fan_out: int = 0
    commutative: bool = True
    """True if the operation commutes."""
    blocking: bool = True
    """True for `MPI_Allreduce`, False for `MPI_Iallreduce`."""
    ranks_per_host: int = 0
    """Block placement of consecutive ranks; 0 gives each rank its own host."""


@dataclass(frozen=True)
class Schedule:
    """Messages of the ranks in a call."""

    case: Case
    algorithm: str
    segment_bytes: int
    rounds: int
    messages: Sequence[Message]
    combined_bytes: Sequence[float]
    """Bytes reduced by each rank."""

    @property
    def sent_bytes(self) -> int:
        """Total bytes of all messages."""
        return sum(message.bytes for message in self.messages)

    @property
    def busiest_bytes(self) -> int:
        """Largest number of bytes sent by a rank."""
        sent = [0] * self.case.ranks
        for message in self.messages:
            sent[message.sender] += message.bytes
        return max(sent)


def collective_of(name: str) -> tuple[str, bool]:
    """Return the collective for a name such as `MPI_Iallreduce`, and True if it is blocking."""
    known = sorted({row["collective"] for row in _core.host_algorithms()})
    plain = name.lower().removeprefix("mpi_")
    if plain in known:
        return plain, True
    if plain.startswith("i") and plain[1:] in known:
        return plain[1:], False
    raise WeftError(f"{named('collective')}: found '{name}'; {suggestion(plain, known)}")


def algorithms(collective: str = "") -> list[Algorithm]:
    """Return all algorithms, or the algorithms for one collective."""
    rows = [Algorithm(**row) for row in _core.host_algorithms()]
    if not collective:
        return rows
    name, _ = collective_of(collective)
    return [row for row in rows if row.collective == name]


def schedule(case: Case) -> Schedule:
    """Execute a call in rounds, without a network."""
    _check(case)
    row = _core.host_schedule(
        case.selection,
        case.algorithm,
        case.segment_bytes,
        case.fan_out,
        case.collective,
        case.ranks,
        case.bytes // case.element_bytes,
        case.element_bytes,
        case.root,
        case.commutative,
        case.blocking,
        None,
        [rank // case.ranks_per_host for rank in range(case.ranks)]
        if case.ranks_per_host
        else None,
    )
    messages = [
        Message(number, one, other, int(size)) for number, one, other, size in row["messages"]
    ]
    return Schedule(
        case,
        row["algorithm"],
        int(row["segment_bytes"]),
        row["rounds"],
        messages,
        row["combined_bytes"],
    )


def _check(case: Case) -> None:
    known = algorithms(case.collective)
    shipped = [row["name"] for row in _core.selections()]
    # The selection may be the path of an Open MPI rules file, preceded by a selection for all other
    # calls.
    is_file = "/" in case.selection or "+" in case.selection or Path(case.selection).exists()
    if case.selection not in shipped and not is_file and not Path(case.selection).suffix:
        raise WeftError(
            f"{named('selection')}: found '{case.selection}'; {suggestion(case.selection, shipped)}"
        )
    file = Path(case.selection.partition("+")[2] or case.selection)
    if case.selection not in shipped and not file.is_file():
        raise WeftError(f"{named('selection')}: cannot read {file}")
    if not 0 <= case.root < case.ranks:
        raise WeftError(f"{named('root')}: found {case.root}; allowed: 0 to {case.ranks - 1}")
    if case.bytes % case.element_bytes:
        raise WeftError(
            f"{named('bytes')}: found {case.bytes}; allowed: a multiple of an element's"
            f" {case.element_bytes} bytes"
        )
    if not case.algorithm:
        for field, value in (("segment", case.segment_bytes), ("fan_out", case.fan_out)):
            if value:
                raise WeftError(
                    f"{named(field)}: found {value}; it requires {named('algorithm')}; a selection"
                    " sets its own"
                )
        return
    chosen = next((row for row in known if row.name == case.algorithm), None)
    if chosen is None:
        names = suggestion(case.algorithm, [row.name for row in known])
        raise WeftError(f"{named('algorithm')}: found '{case.algorithm}'; {names}")
    if not chosen.any_operation and not case.commutative:
        fitting = ", ".join(row.name for row in known if row.any_operation)
        raise WeftError(
            f"{named('algorithm')}: found '{case.algorithm}', which needs a commutative operation;"
            f" allowed: {fitting}"
        )
    if case.algorithm == "two_proc" and case.ranks != 2:
        raise WeftError(
            f"{named('algorithm')}: found 'two_proc' for {case.ranks} ranks; it is for two"
        )


def write_csv(schedule: Schedule, path: Path, option: str = "path") -> None:
    """Write all messages in order."""
    with whole_file(option, path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("round", "from", "to", "bytes"))
        writer.writerows(schedule.messages)


def title(schedule: Schedule) -> str:
    """Return a title: collective, algorithm, ranks, bytes."""
    case = schedule.case
    collective = case.collective if case.blocking else f"non-blocking {case.collective}"
    parts = [f"{collective} by {schedule.algorithm}", f"{case.ranks} ranks"]
    if case.collective != "barrier":
        size = format_size(case.bytes)
        parts.append(size if case.collective in WHOLE else f"{size} in a block")
    if case.ranks_per_host >= case.ranks:
        parts.append("all on one host")
    elif case.ranks_per_host:
        parts.append(f"{case.ranks_per_host} on each host")
    if case.collective in ROOTED:
        parts.append(f"root {case.root}")
    if schedule.segment_bytes:
        parts.append(f"segments of {format_size(schedule.segment_bytes)}")
    return ", ".join(parts)


def check_picture(ranks: int, target: Path, option: str = "target") -> None:
    """Check that this number of ranks can be drawn, and that the file's format is supported."""
    plots.check_format(option, target)
    if ranks > MOST_DRAWN:
        raise WeftError(
            f"{named('ranks')}: found {ranks}; a picture shows at most {MOST_DRAWN} ranks"
        )


def plot(schedule: Schedule, target: Path, option: str = "target") -> None:
    """Draw a schedule to a file."""
    check_picture(schedule.case.ranks, target, option)
    plots.save(figure(schedule), [target], option)


def figure(schedule: Schedule) -> "Figure":
    """Draw ranks as lines, time from left to right, and each message as an arrow."""
    from matplotlib.figure import Figure

    ranks, rounds = schedule.case.ranks, max(1, schedule.rounds)
    size = (min(16, 2.5 + 0.9 * rounds), min(14, 1.5 + 0.35 * ranks))
    drawn = Figure(figsize=size, layout="constrained")
    axes = drawn.add_subplot(title=title(schedule))
    axes.hlines(range(ranks), 0, rounds, color=plots.GREY, linewidth=0.8)
    sizes = sorted({message.bytes for message in schedule.messages})
    colours = {size: plots.COLOURS[index % 6] for index, size in enumerate(sizes[-6:])}
    for message in schedule.messages:
        axes.annotate(
            "",
            xy=(message.round + 1, message.receiver),
            xytext=(message.round, message.sender),
            arrowprops={
                "arrowstyle": "-|>",
                "color": colours.get(message.bytes, plots.GREY),
                "shrinkA": 0,
                "shrinkB": 0,
                "linewidth": 1.2,
            },
        )
    for size_, colour in colours.items():
        axes.plot([], [], color=colour, label=format_size(size_))
    if len(sizes) > 6:
        axes.plot([], [], color=plots.GREY, label="less")
    axes.legend(title="message", loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    axes.set_xlabel("round")
    axes.set_ylabel("rank")
    axes.set_xlim(-0.1, rounds + 0.1)
    axes.set_ylim(ranks - 0.5, -0.5)
    axes.set_xticks(range(rounds + 1) if rounds <= 30 else range(0, rounds + 1, rounds // 15))
    axes.set_yticks(range(ranks) if ranks <= 32 else range(0, ranks, 4))
    axes.spines[["top", "right", "left"]].set_visible(False)
    return plots.without_formulas(drawn)
