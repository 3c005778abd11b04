# SPDX-License-Identifier: LGPL-2.1-only
"""Training iterations as jobs: from a training file or from recorded traces."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weft import _core

if TYPE_CHECKING:
    from weft.training.workload import Workload


@dataclass(frozen=True)
class JobIteration:
    """Training iteration of a job."""

    source: str
    """Training file, preset or trace."""
    workload: "Workload"
    library: str
    """Version of NCCL: a file of presets/nccl."""
    detail: str
    """Form in which collectives are executed (workload.DETAILS)."""
    files: tuple[Path, ...]
    """Files read; empty for a preset."""
    layout: str = ""
    """Parallel layout of the ranks, in words; empty for traces."""

    @property
    def ranks(self) -> int:
        """Number of GPUs."""
        return len(self.workload.program_of)

    def describe(self, fabric: _core.Fabric) -> str:
        """Return the workload for libweft.so.

        Raises `_core.UserError` if the fabric is not a GPU fabric, or if the NCCL version is
        unknown.
        """
        programs = [one for one in self.workload.programs if isinstance(one, _core.WorkloadProgram)]
        assert len(programs) == len(self.workload.programs)
        return _core.describe_workload(
            *(fabric, self.library, programs),
            *(list(self.workload.program_of), list(self.workload.groups)),
        )


def of_model(
    name: str, folder: Path, changes: Sequence[str], gpu: str | None, library: str
) -> JobIteration:
    """Return the iteration of a preset, or of a training file in a folder. Raises `WeftError`."""
    from weft.training.run import load_training

    path = folder / name
    its = load_training(path if path.exists() else name, changes, gpu=gpu)
    files = (path,) if path.exists() else ()
    return JobIteration(
        *(its.file.source, its.workload, library),
        detail="step",
        files=files,
        layout=its.summary.layout,
    )


def is_trace(path: Path) -> bool:
    """Return True if a path is a training trace."""
    from weft.training.formats.reading import detect

    return detect(path) is not None


def of_trace(path: Path, gpu: str | None, library: str) -> JobIteration:
    """Return the iteration recorded in a trace. Raises `WeftError`."""
    from weft.training.formats.options import ReadOptions
    from weft.training.formats.roofline import roofline_of
    from weft.training.formats.trace import load_trace

    read = load_trace(path, ReadOptions(roofline=roofline_of(gpu) if gpu else None))
    return JobIteration(read.source, read.workload, library, read.detail, files_of_trace(path))


def files_of_trace(trace: Path) -> tuple[Path, ...]:
    """Return the files of a training trace: a folder, a file, or the prefix of Chakra's files."""
    from weft.training.formats import chakra

    if trace.is_dir():
        return tuple(sorted(one for one in trace.iterdir() if one.is_file()))
    return (trace,) if trace.is_file() else tuple(sorted(chakra.files_of(trace).values()))
