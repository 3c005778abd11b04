# SPDX-License-Identifier: LGPL-2.1-only
"""Detection and reading of training traces."""

import re
from collections.abc import Callable
from pathlib import Path

from weft.base.errors import WeftError
from weft.training.formats import chakra, kineto, simai
from weft.training.formats.options import ReadOptions
from weft.training.formats.source import head_of
from weft.training.workload import NewProgram, Workload

CHAKRA, KINETO, SIMAI, HOST = "chakra", "kineto", "simai", "pytorch-host"
_SNIFFED = 1 << 12
_HOST_TRACE = re.compile(rb'^\s*\{\s*"schema"\s*:\s*"\d')

Read = Callable[[Path, ReadOptions, NewProgram], Workload]


def detect(path: Path) -> str | None:
    """Return the format of a training trace; None if the path is not a training trace.

    A path that does not exist may be the prefix of the files of a Chakra trace.
    """
    if path.is_dir():
        names = [one for one in path.iterdir() if one.is_file()]
        if any(".et" in one.suffixes[-2:] for one in names):
            return CHAKRA
        texts = [one for one in sorted(names) if _is_json(one)]
        if any(kineto.is_kineto(one) for one in texts):
            return KINETO
        return CHAKRA if any(chakra.is_json_form(one) for one in texts) else None
    if not path.is_file():
        return CHAKRA if path.parent.is_dir() and chakra.files_of(path) else None
    if ".et" in path.suffixes[-2:] or (_is_json(path) and chakra.is_json_form(path)):
        return CHAKRA
    if _is_json(path):
        if kineto.is_kineto(path):
            return KINETO
        return HOST if _HOST_TRACE.match(head_of(path, _SNIFFED)) else None
    return SIMAI if simai.is_simai(path) else None


def _is_json(path: Path) -> bool:
    return path.name.removesuffix(".gz").endswith(".json")


def read(path: Path, options: ReadOptions, new_program: NewProgram) -> Workload:
    """Read a trace whose format `detect` has recognised. Raises `WeftError`."""
    found = detect(path)
    readers: dict[str | None, Read] = {
        CHAKRA: chakra.read,
        KINETO: kineto.read,
        SIMAI: simai.read,
        HOST: _refuse_host_trace,
    }
    if found not in readers:
        raise WeftError(
            f"trace: {path} is no trace of training; allowed are Chakra's files NAME.<rank>.et,"
            " Kineto's JSON files and SimAI's workload text"
        )
    return readers[found](path, options, new_program)


def _refuse_host_trace(path: Path, _options: ReadOptions, _new_program: NewProgram) -> Workload:
    raise WeftError(
        f"trace: {path} is the host trace of PyTorch's ExecutionTraceObserver, which has no kernels"
        " and no times; replay the Kineto file of the same run, or link and convert both with"
        " Chakra"
    )
