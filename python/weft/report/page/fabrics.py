# SPDX-License-Identifier: LGPL-2.1-only
"""Fabrics of a campaign, with changed keys, description and available measurements."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from weft import _core
from weft.base.errors import WeftError
from weft.base.units import plural
from weft.benchmarks.measured import impossible, said
from weft.campaign.file.iterations import fabric_changes
from weft.report.data.study import Study
from weft.report.page.measured import Measurement, measurements
from weft.runs.faults.changes import of_fabric
from weft.runs.record_data import with_changes


@dataclass(frozen=True)
class Variant:
    """Fabric with some keys changed, and the combinations that run on it."""

    fabric: str
    """Name in the campaign file."""
    file: str
    """Path or name of the fabric as given by the user."""
    changes: tuple[str, ...]
    rows: Sequence[int]

    @property
    def label(self) -> str:
        """Name with the changes."""
        return with_changes(self.fabric, self.changes)

    @cached_property
    def _read(self) -> "tuple[_core.Fabric | None, str]":
        try:
            return _core.load_fabric(self.file, list(self.changes)), ""
        except (_core.UserError, WeftError) as error:
            return None, str(error)

    @property
    def read(self) -> "_core.Fabric | None":
        """Fabric; None if it cannot be read."""
        return self._read[0]

    @property
    def refused(self) -> str:
        """Error message if the fabric cannot be read."""
        return self._read[1]

    @cached_property
    def measurements(self) -> list[Measurement]:
        """Measurements of the fabric's devices."""
        return measurements(self.file, self.changes)

    @property
    def about(self) -> str:
        """One-line description."""
        if self.read is None:
            return "a platform of SimGrid's" if self.file.endswith(".xml") else self.refused
        size = (
            f"{plural(len(self.read.hosts), 'host')}, {plural(len(self.read.switches), 'switch')}"
        )
        about = f"{self.read.description} ({size})" if self.read.description else size
        found = impossible(self.read)
        return "; ".join([about, *([said(found)] if found else [])])

    def ranks_per_host(self, ranks: int) -> int:
        """Return the default number of ranks per host."""
        return -(-ranks // len(self.read.hosts)) if self.read else 1


def variants(study: Study) -> list[Variant]:
    """Return all fabrics of a campaign in order of appearance."""
    rows: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for number, point in enumerate(study.points):
        changes = of_fabric(list(fabric_changes(point)))
        rows.setdefault((point["fabric"], changes), []).append(number)
    return [
        Variant(fabric, _file(study, fabric), changes, numbers)
        for (fabric, changes), numbers in rows.items()
    ]


def _file(study: Study, fabric: str) -> str:
    if fabric in study.fabrics:
        return study.fabrics[fabric]
    path = study.folder / fabric
    return str(path) if path.is_file() else fabric
