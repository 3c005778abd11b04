# SPDX-License-Identifier: LGPL-2.1-only
"""The fabrics of a campaign, each with its changed keys: what they are, what is known of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from weft import _core
from weft.base.errors import WeftError
from weft.base.units import plural
from weft.report.data.study import Study
from weft.report.page.measured import Measurement, measurements
from weft.runs.record_data import with_changes


@dataclass(frozen=True)
class Variant:
    """A fabric with some keys changed, and which combinations run on it."""

    fabric: str
    """As the campaign has it."""
    file: str
    """As weft finds it."""
    changes: tuple[str, ...]
    rows: Sequence[int]

    @property
    def label(self) -> str:
        """Its name, with what was changed."""
        return with_changes(self.fabric, self.changes)

    @cached_property
    def _read(self) -> "tuple[_core.Fabric | None, str]":
        try:
            return _core.load_fabric(self.file, list(self.changes)), ""
        except (_core.UserError, WeftError) as error:
            return None, str(error)

    @property
    def read(self) -> "_core.Fabric | None":
        """The fabric; none where it cannot be read."""
        return self._read[0]

    @property
    def refused(self) -> str:
        """Why it cannot be read."""
        return self._read[1]

    @cached_property
    def measurements(self) -> list[Measurement]:
        """What has been measured of its devices."""
        return measurements(self.file, self.changes)

    @property
    def about(self) -> str:
        """Say in a line what it is."""
        if self.read is None:
            return "a platform of SimGrid's" if self.file.endswith(".xml") else self.refused
        size = (
            f"{plural(len(self.read.hosts), 'host')}, {plural(len(self.read.switches), 'switch')}"
        )
        return f"{self.read.description} ({size})" if self.read.description else size

    def ranks_per_host(self, ranks: int) -> int:
        """Return how ranks are placed where nobody says it."""
        return -(-ranks // len(self.read.hosts)) if self.read else 1


def variants(study: Study) -> list[Variant]:
    """Return all fabrics of a campaign, in the order in which they come."""
    rows: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for number, point in enumerate(study.points):
        changes = tuple(f"{key}={value}" for key, value in point.items() if "." in key and value)
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
