# SPDX-License-Identifier: LGPL-2.1-only
"""Reader for outputs of benchmarks.

A file may contain several benchmarks, separated by other job output; each benchmark becomes a
`Measured`. Each block of lines goes to the reader of its first line.

`weft.benchmarks.placement` determines where ranks are placed.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from types import ModuleType

from weft.base.user_files import UnreadableError, read_text
from weft.benchmarks import nccl_tests, osu_imb, ucc_perftest, ucx_perftest, verbs_perftest
from weft.benchmarks.measurement import Block, Measured, MeasuredRow, NoBenchmarkError
from weft.benchmarks.placement import PlacementSource, lines_said, said_in_name

__all__ = ["Measured", "MeasuredRow", "NoBenchmarkError", "read"]

_READERS: tuple[ModuleType, ...] = (
    *(osu_imb, nccl_tests, ucc_perftest, ucx_perftest, verbs_perftest),
)
# Prefixes of lines from launchers: mpirun --tag-output, and srun --label.
_TAG = re.compile(r"\s*\[\d+,\d+\](?:<std\w+>)?:\s?")
_LABEL = re.compile(r"\s*\d+: ?")
_LABELLED = 3
"""Consecutive labelled lines above which the labels are attributed to a launcher."""
# Documents indent quoted outputs.
_INDENTED = re.compile(r"\s+(?=#\s|\||\+-)")


def read(path: Path, root: Path | None = None) -> tuple[Measured, ...]:
    """Return the benchmarks of a file in file order.

    Ranks per host may also be encoded in the file's name, or in the names of its folders below
    `root`.

    Raises:
        NoBenchmarkError: The file contains no benchmark.
        WeftError: A row does not match the columns, or sources of rank counts contradict each
            other.
    """
    try:
        lines = _without_prefixes(read_text(path, old=True).splitlines())
    except UnreadableError as error:
        raise NoBenchmarkError(
            f"{path}: {error}; give outputs of OSU, IMB, nccl-tests or perftest"
        ) from None
    starts = list(_starts(lines))
    if not starts:
        raise NoBenchmarkError(
            f"{path}: has no output of the OSU micro-benchmarks, IMB, nccl-tests, ucc_perftest,"
            " ucx_perftest or perftest: no line begins with '# OSU MPI', '# Benchmarking' or"
            " '# nThread'"
        )
    numbers = [number for number, _ in starts]
    ends = [*(number - 1 for number in numbers[1:]), len(lines)]
    named = said_in_name(path, root)
    said = lines_said(path, lines[: numbers[0] - 1], 1)
    found: list[Measured] = []
    before = 0
    for (start, reader), end in zip(starts, ends, strict=True):
        found += reader.measured(Block(path, lines, start, end, before, said, named))
        before = start
        # A command echoed after a benchmark belongs to the next one.
        said = _replaced(said, lines_said(path, lines[start:end], start + 1))
    if not found:
        raise NoBenchmarkError(
            f"{path}: ends before any result: line {numbers[-1]} names a benchmark, but no columns"
            " follow; leave out the file"
        )
    return tuple(_joined(found))


def is_output(lines: Sequence[str]) -> bool:
    """Return True for the output of a suite other than OSU and IMB."""
    return any(reader is not osu_imb for _, reader in _starts(_without_prefixes(lines)))


def _without_prefixes(lines: Sequence[str]) -> list[str]:
    """Strip launcher prefixes from lines, and unescape `#`.

    Quoted outputs in documents mix labelled and unlabelled lines.
    """
    found: list[str] = []
    for labelled, some in groupby(lines, lambda line: _LABEL.match(line) is not None):
        block = list(some)
        if labelled and len(block) >= _LABELLED:
            block = [_without(_LABEL, line) for line in block]
        found += block
    return [_unmarked(_without(_TAG, line)) for line in found]


def _without(prefix: re.Pattern[str], line: str) -> str:
    match = prefix.match(line)
    return line[match.end() :] if match else line


def _unmarked(line: str) -> str:
    """Strip indentation before `#` and table frames from a line, and unescape `#`."""
    text = _without(_INDENTED, line)
    return text.removeprefix("\\") if text.startswith("\\#") else text


def _starts(lines: Sequence[str]) -> Iterator[tuple[int, ModuleType]]:
    """Yield the first line of each benchmark and its reader."""
    opened: ModuleType | None = None  # reader whose columns have not been found yet
    for number, line in enumerate(lines, 1):
        reader = next((one for one in _READERS if one.begins(line)), None)
        if reader is not None:
            opened = reader
            yield number, reader
        elif (table := _table_of(line)) is not None:
            if opened is not table:
                yield number, table
            opened = None


def _table_of(line: str) -> ModuleType | None:
    """Return the reader of a table with these column names, for excerpts without the head."""
    for reader in (nccl_tests, ucc_perftest, verbs_perftest):
        if reader.is_header(line):
            return reader
    return None


def _joined(found: Sequence[Measured]) -> Iterator[Measured]:
    """Yield the benchmarks; runs of ucx_perftest, one size each, are joined."""
    for suite, group in groupby(found, lambda one: one.suite):
        some = list(group)
        yield from ucx_perftest.joined(some) if suite == "ucx_perftest" else some


def _replaced(
    said: Sequence[PlacementSource], later: Sequence[PlacementSource]
) -> list[PlacementSource]:
    """Merge placements in file order: a later command replaces an earlier one."""
    if any(one.is_command for one in later):
        said = [one for one in said if not one.is_command]
    return [*said, *later]
