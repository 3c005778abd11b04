# SPDX-License-Identifier: LGPL-2.1-only
"""Ranks and ranks per host of a benchmark's output, with their source in the file.

In order of precedence: the benchmark's own header (`# #processes = 64`, `[ pairs: 32 ]`), the
echoed command (`srun`, `mpirun`, `mpiexec`), the job's variables and ReFrame's fields, and the
names of file and folders (`ppn32`, `2x32`: hosts and ranks per host). Each source states one or
more of ranks, ranks per host and hosts; contradictions at equal precedence are errors. The two
ranks of a point-to-point benchmark are on two hosts unless the command or a header states
otherwise: jobs with many ranks per host run them that way.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from weft.base.errors import WeftError

Fields = Mapping[str, int]
"""One or more of `ranks`, `ppn` and `hosts`."""
PAIRWISE = ("latency", "bw", "bibw", "pingping")
"""Benchmarks with exactly two ranks."""


@dataclass(frozen=True)
class PlacementSource:
    """One statement about ranks, with its source."""

    path: Path
    line: int | None
    """None if the source is a file or folder name."""
    text: str
    fields: Fields
    is_command: bool = False

    @property
    def place(self) -> str:
        """Source, for error messages."""
        return f"{self.path}: line {self.line}" if self.line else f"the name '{self.text}'"


@dataclass(frozen=True)
class Placement:
    """Ranks of a call and ranks per host; None if unknown."""

    ranks: int | None = None
    ppn: int | None = None
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Source text by field."""

    @property
    def hosts(self) -> int | None:
        """Number of hosts, if ranks and ranks per host are known."""
        return None if self.ranks is None or self.ppn is None else -(-self.ranks // self.ppn)


_PAIRS_OF_HOSTS = ("mbw_mr", "multi_lat")
"""The first half of the ranks sends to the second, on the other host (OSU's README)."""
_CYCLIC = re.compile(r"--map-by[ =]node|--?bynode|cyclic|-map \d+x1\b")

_PROGRAM = r"(?:osu_\w+|IMB-\w+|\w+_perf(?:_mpi)?|ucc_perftest)"
_LAUNCHERS = ("srun", "mpirun", "mpiexec", "mpiexec.hydra", "mpirun_rsh", "orterun", "prterun")
_OPTIONS = {
    **{name: "ranks" for name in ("-n", "-np", "--np", "--ntasks", "-c")},
    **{name: "ppn" for name in ("-ppn", "--ppn", "-npernode", "--npernode", "-N")},
    **{name: "ppn" for name in ("--ntasks-per-node", "-perhost", "--ranks-per-node")},
    **{name: "hosts" for name in ("--nodes", "-nnodes", "--nnodes")},
}
_VARIABLES = {
    "SLURM_NTASKS": "ranks",
    "SLURM_NPROCS": "ranks",
    "SLURM_NNODES": "hosts",
    "SLURM_JOB_NUM_NODES": "hosts",
    "SLURM_NTASKS_PER_NODE": "ppn",
    "SLURM_TASKS_PER_NODE": "ppn",
    "num_tasks": "ranks",
    "num_tasks_per_node": "ppn",
    "num_nodes": "hosts",
}
_VARIABLE = re.compile(
    r"(?<![\w$])(" + "|".join(_VARIABLES) + r")['\"]?\s*[=:]\s*['\"]?(\d+)(?:\(x(\d+)\))?"
)
_SBATCH = re.compile(r"#SBATCH\s+(.*)")
_NUMBERS = (
    (re.compile(r"(?<![a-z\d])(?:ppn|ntasks-per-node|tasks-per-node)[-_=]?(\d+)(?!\d)"), "ppn"),
    (re.compile(r"(?<![a-z\d])(\d+)[-_]?ppn(?![a-z])"), "ppn"),
    (re.compile(r"(?<![a-z\d])(?:np|ranks|nprocs|ntasks)[-_=]?(\d+)(?!\d)"), "ranks"),
    (re.compile(r"(?<![a-z\d])(\d+)[-_]?(?:ranks|procs|tasks)(?![a-z])"), "ranks"),
    (re.compile(r"(?<![a-z\d])(?:nodes|hosts|nnodes)[-_=]?(\d+)(?!\d)"), "hosts"),
    (re.compile(r"(?<![a-z\d])(\d+)[-_]?(?:nodes|hosts|node|host)(?![a-z])"), "hosts"),
)
_PRODUCT = re.compile(r"(?<![a-z\d.])(\d+)x(\d+)(?![a-z\d])")


def lines_said(path: Path, lines: Sequence[str], first: int) -> list[PlacementSource]:
    """Return the statements in commands, variables and Slurm's lines; `first` is a line number."""
    found = []
    for number, line in enumerate(lines, first):
        if len(line) > 4096:
            continue
        if match := _SBATCH.match(line.strip()):
            if fields := _of_words(match[1].split(), "srun"):
                found.append(PlacementSource(path, number, line.strip(), fields))
        elif command := _command(line):
            found.append(
                PlacementSource(path, number, line.strip(), _of_words(*command), is_command=True)
            )
        elif fields := dict(_of_variables(line)):
            found.append(PlacementSource(path, number, line.strip(), fields))
    return found


def _command(line: str) -> tuple[list[str], str] | None:
    """Return the words of a launcher's command line, and the launcher."""
    if not any(name in line for name in ("srun", "mpirun", "mpiexec", "terun")):
        return None
    try:
        words = shlex.split(line.lstrip("#+$> \t"), posix=True)
    except ValueError:
        words = line.split()
    for place, word in enumerate(words):
        name = word.rpartition("/")[2].lstrip("'\"$(")
        if name in _LAUNCHERS and re.search(rf"\b{_PROGRAM}\b|osu_", line):
            return words[place + 1 :], name
    return None


def _of_words(words: Sequence[str], launcher: str) -> Fields:
    found: dict[str, int] = {}
    for place, word in enumerate(words):
        if re.match(rf"(.*/)?{_PROGRAM}$", word):
            break  # # options of the benchmark follow
        name, has_value, value = word.partition("=")
        if not has_value:
            value = words[place + 1] if place + 1 < len(words) else ""
        if launcher == "srun" and (joined := re.match(r"(-[nN])(\d+)$", word)):
            name, value = joined[1], joined[2]
        what = _OPTIONS.get(name)
        if launcher == "srun" and name in ("-N", "-c"):
            what = "hosts" if name == "-N" else None
        elif name == "-c" and launcher not in ("mpirun", "orterun", "prterun"):
            what = None
        if what and value.isdecimal() and int(value):
            found[what] = int(value)
        if match := re.match(r"ppr:(\d+):node", value if name in ("--map-by", "-map-by") else ""):
            found["ppn"] = int(match[1])
    return found


def _of_variables(line: str) -> Iterator[tuple[str, int]]:
    for name, number, times in _VARIABLE.findall(line):
        # 32(x2): 32 on each of two hosts
        yield _VARIABLES[name], int(number)
        if times:
            yield "hosts", int(times)


def said_in_name(path: Path, root: Path | None) -> list[PlacementSource]:
    """Return the statements in the file's name, then in the names of its folders below `root`."""
    parts = [path.name]
    if root is not None and path.is_relative_to(root):
        parts = [*path.relative_to(root).parts[::-1]]
    found = []
    for name in parts:
        text = re.sub(r"osu_|imb-mpi1", "", name.lower())
        fields = {what: int(match[1]) for how, what in _NUMBERS if (match := how.search(text))}
        if match := _PRODUCT.search(text):
            fields |= {"hosts": int(match[1]), "ppn": int(match[2])}
        fields = {what: number for what, number in fields.items() if number}
        if fields:
            found.append(PlacementSource(path, None, name, fields))
    return found


@dataclass(frozen=True)
class Header:
    """Rank counts from a benchmark's own header."""

    line: int
    active: int | None = None
    """Participating ranks: IMB's `#processes`."""
    world: PlacementSource | None = None
    """All ranks of the program."""


def settled(
    path: Path,
    benchmark: str,
    header: Header,
    lines: Sequence[PlacementSource],
    names: Sequence[PlacementSource],
) -> Placement:
    """Return the placement of a benchmark."""
    commands = [one for one in lines if one.is_command][-1:]
    job = [one for one in lines if not one.is_command]
    own = [header.world] if header.world else []
    if benchmark in PAIRWISE:
        return _of_pair([*own, *commands])
    found: dict[str, tuple[int, PlacementSource]] = {}
    # A job may have more ranks than one of its commands, so each source only adds missing values.
    for trusted in (own, commands, job, names):
        _take(found, trusted)
    if benchmark in _PAIRS_OF_HOSTS and "ranks" in found and len(found) == 1:
        ranks, said = found["ranks"]
        found["ppn"] = (max(ranks // 2, 1), said)
    world = _complete(path, header.line, found)
    _check_names(world, path, header.line, names)
    if header.active is None or world.ranks is None:
        return world
    ppn = None if world.ppn is None else min(world.ppn, header.active)
    if ppn is not None and header.active % ppn:
        ppn = None  # # the last host has fewer ranks
    return Placement(header.active, ppn, world.sources)


def _of_pair(said: Sequence[PlacementSource]) -> Placement:
    """Place two ranks, on one host only if a header or the command states this."""
    found: dict[str, tuple[int, PlacementSource]] = {}
    for one in said:
        _take(found, [one])
    numbers = {what: number for what, (number, _) in found.items()}
    spread = any(_CYCLIC.search(one.text) for one in said)
    together = numbers.get("hosts") == 1 or numbers.get("ppn", 1) > 1
    sources = {what: one.text for what, (_, one) in found.items()}
    return Placement(2, 2 if together and not spread else 1, sources)


def _take(found: dict[str, tuple[int, PlacementSource]], said: Sequence[PlacementSource]) -> None:
    """Add the fields that more trusted sources neither state nor imply."""
    before = dict(found)
    if len(before) > 1:
        return
    for one in said:
        for what, number in one.fields.items():
            if what in before:
                continue
            if what in found and found[what][0] != number:
                raise _contradiction(what, found[what], (number, one))
            found.setdefault(what, (number, one))


def _check_names(world: Placement, path: Path, line: int, names: Sequence[PlacementSource]) -> None:
    """Refuse names of files and folders that contradict the file's content."""
    for name in names:
        for what, number in name.fields.items():
            found = getattr(world, what)
            # Fewer ranks than a host's ppn share a single host.
            few = what == "ppn" and world.ranks is not None and world.ranks < number
            if found not in (None, number) and not few:
                because = ", ".join(dict.fromkeys(world.sources.values()))
                raise WeftError(
                    f"{path}: line {line}: found {found} {_WORDS[what]} ({because}), and"
                    f" {name.place} says {number}; correct one of them"
                )


_WORDS = {"ranks": "ranks", "ppn": "ranks per host", "hosts": "hosts"}


def _contradiction(
    what: str, first: tuple[int, PlacementSource], second: tuple[int, PlacementSource]
) -> WeftError:
    (number, one), (other, two) = first, second
    place = one.place if one.line else str(one.path)
    return WeftError(
        f"{place}: found {number} {_WORDS[what]} ({one.text}), and {two.place} says {other};"
        " correct one of them"
    )


def _complete(path: Path, line: int, found: Mapping[str, tuple[int, PlacementSource]]) -> Placement:
    numbers = {what: number for what, (number, _) in found.items()}
    ranks, ppn, hosts = (numbers.get(what) for what in ("ranks", "ppn", "hosts"))
    if ranks is None and ppn and hosts:
        ranks = ppn * hosts
    if ppn is None and ranks and hosts:
        if ranks % hosts:
            raise WeftError(
                f"{path}: line {line}: {ranks} ranks cannot be divided evenly among {hosts} hosts"
            )
        ppn = ranks // hosts
    if ranks is not None and ppn is not None and ranks % ppn:
        if ranks > ppn:
            raise WeftError(
                f"{path}: line {line}: {ranks} ranks are not a multiple of {ppn} ranks per host"
            )
        ppn = ranks  # # all ranks fit on one host
    return Placement(ranks, ppn, {what: one.text for what, (_, one) in found.items()})
