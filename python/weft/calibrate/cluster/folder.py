# SPDX-License-Identifier: LGPL-2.1-only
"""Folders of benchmark outputs: recognizes each file's benchmark and checks consistency.

The suites are OSU, IMB, nccl-tests, ucc_perftest, ucx_perftest and perftest. Every file below the
folder is read. The number of ranks and ranks per host come from the file (see
`weft.benchmarks.placement`), else from `measured.toml` in the folder, else from options. Files from
different machines must not be mixed: differing versions of a suite, repeats that differ too much
and a bandwidth that contradicts the ping-pong are errors that name both sources.
"""

import fnmatch
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from weft.base import options
from weft.base.errors import WeftError, named
from weft.base.units import plural
from weft.base.user_files import UnreadableError, read_text
from weft.benchmarks.bytes_of import BYTES_OF
from weft.benchmarks.measurement import BELOW_MPI
from weft.benchmarks.methods import Method, method_named
from weft.benchmarks.output import Measured, NoBenchmarkError, read
from weft.benchmarks.placement import PAIRWISE, Placement
from weft.calibrate.host.rows import COLLECTIVES, HostRow
from weft.calibrate.measurements.tables import read_table, size_column

BESIDE = "measured.toml"
_MOST_FILES = 10_000
# Largest mean |ln| between repeats of a benchmark on one machine, over common sizes. In
# data/alaska_ib_openmpi4.csv and its RoCE twin, two runs differ by at most 0.15, and the latencies
# of the two networks by 0.6.
_REPEATS_APART = 0.3
# Peak of osu_bw divided by the rate of the largest osu_latency message: 1.0 to 1.1 in the same
# tables. A stream over several rails reaches a multiple.
_RATE_RATIO = (0.6, 8.0)
# Collectives in which every rank waits for ranks on other hosts.
_ALL_WAIT = ("barrier", "allreduce", "allgather", "alltoall", "reduce_scatter_block")
_RATE_BYTES = 1 << 18
"""Message size above which a ping-pong is bound by the link rate."""


@dataclass(frozen=True)
class Sample:
    """Measured time of one collective call, with its file and line."""

    seconds: float
    path: Path
    line: int
    method: Method


@dataclass
class Evidence:
    """Measurements of a folder, grouped by use."""

    folder: Path
    latency: list[Measured] = field(default_factory=list)
    bandwidth: list[Measured] = field(default_factory=list)
    """Streams between hosts: bw and mbw_mr."""
    pairs: Path | None = None
    """Table of ping-pongs between pairs of hosts."""
    collectives: dict[HostRow, list[Sample]] = field(default_factory=dict)
    unused: list[tuple[str, str]] = field(default_factory=list)
    """Benchmarks and files that no key is fitted to, each with the reason."""

    @property
    def times(self) -> dict[HostRow, float]:
        """Seconds of each collective row: the geometric mean of its repeats."""
        return {
            row: math.exp(sum(math.log(one.seconds) for one in some) / len(some))
            for row, some in sorted(self.collectives.items())
        }

    @property
    def methods(self) -> dict[HostRow, Method]:
        """Benchmark of each collective row."""
        return {row: some[0].method for row, some in sorted(self.collectives.items())}

    @property
    def hosts(self) -> int:
        """Largest number of hosts of any row, at least two."""
        return max([2, *(row.ranks // row.ppn for row in self.collectives)])

    @property
    def ppn(self) -> int:
        """Largest number of ranks per host of any row."""
        return max([1, *(row.ppn for row in self.collectives)])

    def one_way(self) -> dict[int, float]:
        """Return the one-way seconds between two hosts by size: geometric means over all files."""
        logs: dict[int, list[float]] = {}
        for one in self.latency:
            for size, seconds in one.seconds.items():
                logs.setdefault(size, []).append(math.log(seconds))
        most = max((len(some) for some in logs.values()), default=0)
        return {
            size: math.exp(sum(some) / len(some))
            for size, some in sorted(logs.items())
            if len(some) == most
        }


def read_folder(folder: Path, ranks: int | None = None, ppn: int | None = None) -> Evidence:
    """Read all files below a folder; `ranks` and `ppn` are defaults for files without placement."""
    if not folder.is_dir():
        raise WeftError(
            f"{named('folder')}: {folder} is not a folder; give one with outputs of OSU, IMB or"
            " nccl-tests"
        )
    evidence = Evidence(folder)
    beside = _FolderRules.of(folder)
    found: list[Measured] = []
    for path in _files(folder):
        if path.name == BESIDE or not beside.used(path):
            continue
        try:
            found += [beside.placed(one, ranks, ppn) for one in read(path, folder)]
        except NoBenchmarkError as error:
            if not _take_table(evidence, path):
                reason = str(error).removeprefix(f"{path}: ").partition(";")[0]
                evidence.unused.append((str(path.relative_to(folder)), reason))
    beside.check_all_met()
    _check_versions(found)
    for one in found:
        _sort(evidence, one)
    _prefer_mpi(evidence)
    if not (evidence.latency or evidence.collectives or evidence.pairs):
        _nothing(evidence, found)
    _check_repeats([*evidence.latency, *evidence.bandwidth])
    _check_repeated_collectives(found)
    _check_rates(evidence)
    _check_times(evidence)
    return evidence


def _files(folder: Path) -> list[Path]:
    found = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    found = [path for path in found if not _is_hidden(path.relative_to(folder))]
    if len(found) > _MOST_FILES:
        raise WeftError(
            f"{named('folder')}: {folder} has {len(found):,} files; allowed are {_MOST_FILES:,}:"
            " give a folder that has only benchmark outputs"
        )
    return found


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _nothing(evidence: Evidence, found: Sequence[Measured]) -> None:
    text = f"{named('folder')}: {evidence.folder} has no file to calibrate a fabric from"
    if found:
        text += f": found {', '.join(sorted({one.benchmark for one in found}))}"
    elif evidence.unused:
        path, reason = evidence.unused[0]
        text += f": {plural(len(evidence.unused), 'file')}, such as {path}, which {reason}"
    else:
        text += ": it is empty"
    raise WeftError(
        f"{text}; give outputs of osu_latency, osu_bw or of collectives"
        f" ({', '.join(sorted(COLLECTIVES))}), IMB's PingPong and the same collectives, or those of"
        " nccl-tests, ucc_perftest, ucx_perftest and perftest"
    )


@dataclass
class _Rule:
    """A [[files]] table of `measured.toml`."""

    match: str
    use: bool
    placement: Placement
    met: bool = False


class _FolderRules:
    """Rules of `measured.toml`: placement of files that do not state it, and files to skip."""

    def __init__(self, folder: Path, rules: Sequence[_Rule]) -> None:
        self._folder, self._rules = folder, rules

    @classmethod
    def of(cls, folder: Path) -> "_FolderRules":
        path = folder / BESIDE
        if not path.is_file():
            return cls(folder, [])
        try:
            text = read_text(path)
        except UnreadableError as error:
            raise WeftError(f"{path}: {error}") from None
        top = options.parse(text, str(path)).allow("files")
        rules = []
        for table in top.parts("files"):
            table.allow("match", "ranks", "ppn", "use")
            numbers = {}
            for key in ("ranks", "ppn"):
                value = table.values.get(key)
                if value is not None and (type(value) is not int or not 0 < value < 1 << 24):
                    table.fail(key, f"found {value!r}; allowed are whole numbers above zero")
                numbers[key] = value
            use = table.values.get("use", True)
            if not isinstance(use, bool):
                table.fail("use", f"found {use!r}; allowed are true and false")
            said = dict.fromkeys((key for key in numbers if numbers[key]), BESIDE)
            rules.append(
                _Rule(table.text("match"), use, Placement(numbers["ranks"], numbers["ppn"], said))
            )
        return cls(folder, rules)

    def _matching(self, path: Path) -> Iterator[_Rule]:
        name = str(path.relative_to(self._folder))
        for rule in self._rules:
            if fnmatch.fnmatchcase(name, rule.match) or fnmatch.fnmatchcase(path.name, rule.match):
                rule.met = True
                yield rule

    def used(self, path: Path) -> bool:
        return all([rule.use for rule in self._matching(path)])

    def placed(self, one: Measured, ranks: int | None, ppn: int | None) -> Measured:
        """Return the benchmark with missing ranks and ranks per host filled in."""
        place = one.placement
        if one.benchmark in PAIRWISE:
            together = any(rule.placement.ppn == 2 for rule in self._matching(one.path))
            return replace(one, placement=replace(place, ppn=2)) if together else one
        for rule in self._matching(one.path):
            for what in ("ranks", "ppn"):
                said, own = getattr(rule.placement, what), getattr(place, what)
                if said and own and said != own:
                    because = place.sources.get(what, "its benchmark")
                    raise WeftError(
                        f"{one.path}: line {one.line}: {one.benchmark} has {own} {what}"
                        f" ({because}), and {self._folder / BESIDE} says {said}; correct one"
                    )
            place = replace(
                place,
                ranks=place.ranks or rule.placement.ranks,
                ppn=place.ppn or rule.placement.ppn,
            )
        place = replace(place, ranks=place.ranks or ranks, ppn=place.ppn or ppn)
        return replace(one, placement=place)

    def check_all_met(self) -> None:
        for rule in self._rules:
            if not rule.met:
                raise WeftError(
                    f"{self._folder / BESIDE}: [[files]] match: found '{rule.match}', but no file"
                    " below the folder has such a name"
                )


def _take_table(evidence: Evidence, path: Path) -> bool:
    """Register a CSV of ping-pongs between pairs of hosts; return False for any other file."""
    if path.suffix.lower() != ".csv":
        return False
    table = read_table(path, "PingPong")
    if not {"source", "target"} <= {*table.names}:
        return False
    size_column(table)
    if evidence.pairs is not None:
        raise WeftError(
            f"{path}: line {table.header_line}: a second table of pairs beside {evidence.pairs};"
            " leave only one in the folder"
        )
    evidence.pairs = path
    return True


def _check_versions(found: Sequence[Measured]) -> None:
    first: dict[str, Measured] = {}
    for one in found:
        other = first.setdefault(one.suite, one)
        if other.version and one.version and other.version != one.version:
            raise WeftError(
                f"{one.path}: line {one.line}: {one.suite} {one.version}, and {other.path}: line"
                f" {other.line}: {other.version}: the files are of different measurements; put"
                " each into its own folder"
            )


def _sort(evidence: Evidence, one: Measured) -> None:
    """File a benchmark under its use, or under `unused` with the reason."""
    label = f"{one.path.relative_to(evidence.folder)}: {one.benchmark}"
    if one.memory != "HOST":
        evidence.unused.append((label, f"buffers in {one.memory} memory"))
    elif "groups" in one.options:
        evidence.unused.append((label, "several communicators at the same time"))
    elif one.benchmark == "latency" and one.hosts == 2:
        evidence.latency.append(one)
    elif one.benchmark in ("bw", "mbw_mr") and one.hosts == 2 and one.unit == "MB/s":
        evidence.bandwidth.append(one)
    elif one.benchmark in ("latency", "bw", "bibw", "mbw_mr", "multi_lat"):
        why = "within a host" if one.hosts == 1 else "differs from latency and bw; not fitted"
        evidence.unused.append((label, why))
    elif one.benchmark in COLLECTIVES and one.unit == "us":
        _add_collective(evidence, one)
    else:
        evidence.unused.append((label, "no key is fitted to this benchmark"))


def _prefer_mpi(evidence: Evidence) -> None:
    """Leave out ping-pongs below the MPI library if the folder contains MPI ping-pongs."""
    if all(one.suite in BELOW_MPI for one in evidence.latency):
        return
    for one in [one for one in evidence.latency if one.suite in BELOW_MPI]:
        evidence.latency.remove(one)
        label = f"{one.path.relative_to(evidence.folder)}: {one.suite}"
        evidence.unused.append(
            (label, "messages without an MPI library; a ping-pong of MPI is there")
        )


def _add_collective(evidence: Evidence, one: Measured) -> None:
    ranks, ppn = one.ranks, one.ppn
    if ranks is None or ppn is None:
        lacks = " and ".join(
            text for text, value in (("ranks", ranks), ("ranks per host", ppn)) if value is None
        )
        raise WeftError(
            f"{one.path}: line {one.line}: {lacks} of {one.benchmark} unknown: not stated in a"
            " header, command or Slurm line of the file, nor in a name such as 2x32 (hosts x"
            f" ranks per host); give {named('ranks')} and {named('ppn')}, or in"
            f" {evidence.folder / BESIDE}"
        )
    if ranks % ppn:
        one.fail(one.line, f"{ranks} ranks are not a multiple of {ppn} ranks per host")
    if ranks == 1:
        evidence.unused.append((f"{one.path.relative_to(evidence.folder)}", "a single rank"))
        return
    method = method_named(one.suite.lower(), one.version)
    for row in one.rows:
        if row.bytes or BYTES_OF[one.benchmark] == "nothing":
            key = HostRow(one.benchmark, ranks, ppn, row.bytes)
            sample = Sample(row.value * 1e-6, one.path, row.line, method)
            samples = evidence.collectives.setdefault(key, [])
            _check_method(sample, samples)
            samples.append(sample)


def _check_method(sample: Sample, others: Sequence[Sample]) -> None:
    """Fail if a row was measured by benchmarks that time calls differently."""
    for other in others:
        if other.method.back_to_back != sample.method.back_to_back:
            raise WeftError(
                f"{sample.path}: line {sample.line}: found a call that {other.path} (line"
                f" {other.line}) has too, and {sample.method.name} and {other.method.name} time"
                " calls differently; put each into its own folder"
            )


def _check_repeats(found: Sequence[Measured]) -> None:
    """Fail if repeats of a benchmark differ too much from its first file."""
    first: dict[tuple[object, ...], Measured] = {}
    for one in found:
        key = (one.benchmark, one.ranks, one.ppn, one.suite, one.options.get("window"))
        other = first.setdefault(key, one)
        if other is one:
            continue
        mine = {row.bytes: row for row in one.rows}
        pairs = [(mine[row.bytes], row) for row in other.rows if row.bytes in mine]
        logs = [abs(math.log(a.value / b.value)) for a, b in pairs]
        if not logs or sum(logs) / len(logs) <= _REPEATS_APART:
            continue
        worst = pairs[logs.index(max(logs))]
        one.fail(
            worst[0].line,
            f"{one.benchmark} of {worst[0].bytes} B: found {worst[0].value:g} {one.unit}, and"
            f" {other.path}: line {worst[1].line} has {worst[1].value:g}; over all sizes the two"
            f" are {math.expm1(sum(logs) / len(logs)):.0%} apart: are the files of different"
            " machines, networks or units? Put each into its own folder",
        )


def _check_repeated_collectives(found: Sequence[Measured]) -> None:
    _check_repeats([one for one in found if one.benchmark in COLLECTIVES and one.unit == "us"])


def _check_rates(evidence: Evidence) -> None:
    """Check streams against large ping-pong messages, to detect mixed units or machines."""
    if not evidence.latency:
        return
    one = evidence.latency[0]
    largest = one.rows[-1]
    if largest.bytes < _RATE_BYTES:
        return
    rate = largest.bytes / largest.value  # B/us equals MB/s.
    for stream in evidence.bandwidth:
        peak = max(stream.rows, key=lambda row: row.value)
        if peak.bytes < _RATE_BYTES:
            continue
        low, high = _RATE_RATIO
        if not low <= peak.value / rate <= high:
            stream.fail(
                peak.line,
                f"units or machines disagree: {stream.benchmark} reaches {peak.value:.4g} MB/s,"
                f" and {one.path}: line {largest.line} takes {largest.value:g} us for"
                f" {largest.bytes} B, which is {rate:.4g} MB/s",
            )


def _check_times(evidence: Evidence) -> None:
    """Check that no collective over several hosts takes less than half a message's latency."""
    if not evidence.latency:
        return
    latency = min(evidence.latency[0].rows, key=lambda row: row.value)
    for row, samples in evidence.collectives.items():
        for sample in samples:
            least = latency.value * 1e-6 / 2
            meets = row.ranks > row.ppn and row.collective in _ALL_WAIT
            if meets and sample.seconds < least:
                raise WeftError(
                    f"{sample.path}: line {sample.line}: {row.collective} of {row.ranks} ranks"
                    f" takes {sample.seconds * 1e6:.4g} us, and"
                    f" {evidence.latency[0].path}: line {latency.line} {latency.value:g} us for one"
                    " message: units or machines disagree"
                )
