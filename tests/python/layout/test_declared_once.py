# SPDX-License-Identifier: LGPL-2.1-only
"""Additions touch at most three hand-written files: options, keys, commands, MPI functions, ….

Each kind has an existing example. All sources that have its name count, except tests, generated
files and those that use the value; documents and studies do not count.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.places import ROOT

MOST_PLACES = 3
FOLDERS = ("src", "python", "testbed", "setup")
SUFFIXES = {".cpp", ".hpp", ".h", ".py", ".js", ".txt"}
TABLES = {"src/mpi/procedures", "src/compilers/mpi-calls"}
GENERATED = {
    "python/weft/_core.pyi",
    "python/weft/__init__.py",
    "python/weft/api/running.py",
    "python/weft/api/bench.py",
}
COMMENT = re.compile(r"^\s*(?://|/?\*|#).*$", re.MULTILINE)


@dataclass(frozen=True)
class Example:
    """One of a kind, with the files that declare it and those that use its value."""

    kind: str
    name: str
    pattern: str
    declared: frozenset[str]
    used: frozenset[str] = frozenset()


EXAMPLES = [
    Example(
        "option of a run, which libweft.so reads and the record has",
        "--no-contention",
        r"\.contention\b|\bcontention\b ?[:=,]|no-contention|WEFT_CONTENTION",
        frozenset(
            {
                "python/weft/runs/options.py",
                "python/weft/runs/record_data.py",
                "src/binding/settings/settings.hpp",
            }
        ),
        frozenset(
            {
                "python/weft/fabric/platform_xml.py",
                "python/weft/report/data/records.py",
                "python/weft/runs/jobs/launch.py",
                "python/weft/runs/launch.py",
                "python/weft/runs/tables.py",
                "src/binding/entries/tools/control_variables.cpp",
                "src/binding/messages/fabric_messages.cpp",
                "src/binding/platform.cpp",
                "src/binding/platform/fabric_resources.cpp",
                "src/binding/platform/platform_network.cpp",
                "src/binding/settings/settings.cpp",
            }
        ),
    ),
    Example(
        "key of [switch], also a property of SimGrid platforms, and a field for Python",
        "streaming_from",
        r"\bstreaming_from",
        frozenset({"src/model/switch/switch_model.cpp", "src/model/switch/switch_model.hpp"}),
        frozenset(
            {"python/weft/calibrate/switch/switch.py", "src/collective/in_network/traffic.hpp"}
        ),
    ),
    Example(
        "key of fault files",
        "go_back",
        r"(?<!::)\bgo_back(?!\()",
        frozenset(
            {
                "python/weft/runs/faults/file.py",
                "src/descriptions/fault_file.cpp",
                "src/network/link_losses.hpp",
            }
        ),
        frozenset({"src/network/link_losses.cpp"}),
    ),
    Example(
        "command, with its call",
        "weft env",
        r"\bmpi_commands\b|weft\.cli\.env\b|^def env\(",
        frozenset(
            {
                "python/weft/api/compiling.py",
                "python/weft/cli/env.py",
                "python/weft/cli/root.py",
            }
        ),
        frozenset({"python/weft/runs/toolchain.py"}),
    ),
    Example(
        "field of the record",
        "packets_passed_on",
        r"\bpackets_passed_on\b",
        frozenset({"python/weft/runs/record_data.py", "src/binding/observe/record.cpp"}),
        frozenset({"src/model/switch/aggregation.cpp", "src/model/switch/aggregation.hpp"}),
    ),
    Example(
        "MPI function with Fortran's forms, a form with large counts, and an error handler",
        "MPI_Type_create_darray",
        r"\bP?(?:MPI_)?Type_create_darray(_c)?\b",
        frozenset({"src/binding/entries/added/distributed_arrays.cpp", *TABLES}),
    ),
    Example(
        "reason of a fallback",
        "job quota",
        r"\bjob_quota\b|\bjob quota\b",
        frozenset({"python/weft/runs/offload_modes.py", "src/collective/decision.hpp"}),
        frozenset({"src/binding/mechanisms/tree_mechanism.cpp"}),
    ),
]


def sources() -> Iterator[tuple[str, str]]:
    """Yield the hand-written sources: their paths and texts without comments."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = str(path.relative_to(ROOT))
            is_source = path.suffix in SUFFIXES or name in TABLES
            if not is_source or name in GENERATED or _is_test(path):
                continue
            yield name, COMMENT.sub("", path.read_text(encoding="utf-8"))


def _is_test(path: Path) -> bool:
    parts = set(path.relative_to(ROOT).parts)
    return path.stem.endswith("_test") or bool(parts & {"tests", "build"})


SOURCES = dict(sources())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: one.name)
def test_one_more_touches_few_files(example: Example) -> None:
    found = {name for name, text in SOURCES.items() if re.search(example.pattern, text, re.M)}
    assert found - example.used == example.declared
    assert example.used <= found, "no longer uses it"
    assert len(example.declared) <= MOST_PLACES, example.kind


def test_the_examples_are_in_many_sources() -> None:
    assert len(SOURCES) > 700
    assert all((ROOT / name).is_file() for name in GENERATED)
