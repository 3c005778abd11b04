# SPDX-License-Identifier: LGPL-2.1-only
"""Location of a run: a weft fabric, or a SimGrid platform file.

Both pass the platform file and the host of each rank to the platform library. A fabric is
completely known before the run; only the library knows the content of a platform.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from xml.etree import ElementTree
from xml.parsers.expat import ErrorString

from msgspec import UNSET

from weft import _core
from weft.base import inputs, topology_files
from weft.base.errors import WeftError, named
from weft.base.units import plural
from weft.benchmarks import measured
from weft.runs.faults.changes import of_fabric
from weft.runs.options import Placement
from weft.runs.record_data import FabricPart
from weft.runs.settings import Settings

_LARGEST_LIBRARY = 1 << 30
PLATFORM_SUFFIXES = (".xml", ".so")


class Site(Protocol):
    """Location of a run."""

    @property
    def ppn(self) -> int | None:
        """Ranks per host, if known before the run."""

    @property
    def part(self) -> FabricPart:
        """Fabric part of the record, for runs in which the library could not provide one."""

    @property
    def impossible(self) -> list[str]:
        """Combinations of devices that no network has."""

    def settings(self, hosts: Path) -> Settings:
        """Return the library's settings; `hosts` is the file that lists each rank's host."""

    def place(self, hosts: Path) -> None:
        """Write the host of each rank, unless the library places the ranks."""


@dataclass(frozen=True)
class FabricSite:
    """Fabric with block-wise placement of ranks on its hosts."""

    fabric: _core.Fabric
    ranks: int
    ppn: int

    @property
    def placement(self) -> list[str]:
        """Host of each rank."""
        hosts = self.fabric.compute_hosts  # copied once: each access creates a new list
        return [hosts[rank // self.ppn] for rank in range(self.ranks)]

    @property
    def part(self) -> FabricPart:
        """Fabric part of the record."""
        fabric = self.fabric
        return FabricPart(
            name=fabric.name,
            file=fabric.file,
            topology=fabric.topology,
            hosts=len(fabric.hosts),
            switches=len(fabric.switches),
            links=fabric.links,
            changes=fabric.changes or UNSET,
            unmeasured=fabric.host["unmeasured"] or UNSET,
        )

    @property
    def impossible(self) -> list[str]:
        """Combinations of devices that no network has."""
        return [str(one) for one in measured.impossible(self.fabric)]

    def settings(self, hosts: Path) -> Settings:
        """Return the settings that select the fabric."""
        return Settings(fabric=self.fabric.file, fabric_changes=tuple(self.fabric.changes))

    def place(self, hosts: Path) -> None:
        """Write the host of each rank."""
        hosts.write_text("".join(f"{host}\n" for host in self.placement))


@dataclass(frozen=True)
class PlatformSite:
    """SimGrid platform file, whose hosts only the library knows; it also places the ranks."""

    file: Path
    ranks: int
    ppn: int | None

    @property
    def part(self) -> FabricPart:
        """Fabric part of the record, for runs in which the library could not provide one."""
        name, file = self.file.stem, str(self.file)
        return FabricPart(name=name, file=file, topology="platform", hosts=0, switches=0, links=0)

    @property
    def impossible(self) -> list[str]:
        """Return an empty list: the devices of platforms have no presets."""
        return []

    def settings(self, hosts: Path) -> Settings:
        """Return the settings that select the platform and the placement of ranks."""
        return Settings(
            platform=str(self.file.absolute()),
            hostfile=str(hosts),
            ppn="" if self.ppn is None else str(self.ppn),
        )

    def place(self, hosts: Path) -> None:
        """Do nothing: the library knows the hosts and places the ranks."""


def choose_site(
    where: Placement, asked_by: str = named("ranks"), ppn_asked_by: str = named("ppn")
) -> Site:
    """Return the location named by the user, after a check that every rank gets a core."""
    if where.fabric is not None and where.platform is not None:
        raise WeftError(
            f"{named('fabric')}: found together with {named('platform')}, which names another"
            " network; leave one out"
        )
    if where.fabric is None and where.platform is None:
        raise WeftError(
            f"name the network to run on: either {named('fabric')}, a fabric file or a shipped"
            f" name, or {named('platform')}, a platform file of SimGrid's"
        )
    if where.platform is not None:
        if where.changes:
            raise WeftError(
                f"{named('changes')}: found '{where.changes[0]}' together with {named('platform')};"
                f" this changes keys of fabrics only; edit the platform file"
            )
        check_platform(where.platform)
        return PlatformSite(where.platform, where.ranks, where.ppn)
    assert where.fabric is not None
    loaded = load_fabric(where.fabric, of_fabric(where.changes))
    ppn = choose_ppn(loaded, where.ranks, where.ppn, asked_by, ppn_asked_by)
    return FabricSite(loaded, where.ranks, ppn)


def load_fabric(name_or_path: str, changes: Sequence[str] = ()) -> _core.Fabric:
    """Load a fabric with some keys changed."""
    for change in changes:
        if not change.isprintable():
            raise WeftError(
                f"{named('changes')}: found {change!r}; allowed: TABLE.KEY=VALUE in one line,"
                " without control characters"
            )
    try:
        return _core.load_fabric(name_or_path, list(changes))
    except _core.UserError:
        if said := topology_files.advice(Path(name_or_path)):
            raise WeftError(f"{name_or_path}: {said}") from None
        raise


def check_platform(path: Path) -> None:
    """Check that the file may be a SimGrid platform."""
    if not path.is_file():
        raise WeftError(f"{named('platform')}: found '{path}', and there is no such file")
    if path.suffix not in PLATFORM_SUFFIXES:
        raise WeftError(
            f"{named('platform')}:"
            f" found '{path}'; SimGrid reads platforms from .xml files and .so libraries (for a"
            f" fabric file use {named('fabric')})"
        )
    if path.suffix == ".xml":
        _check_xml(path)
    elif not _is_platform_library(path):
        raise WeftError(
            f"{named('platform')}:"
            f" found '{path}', which is not a library with the function load_platform; build one"
            " as in SimGrid's documentation of C++ platforms"
        )


def _is_platform_library(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_LIBRARY)
    except OSError as error:
        raise WeftError(f"{named('platform')}: {path} cannot be read: {error.strerror}") from None
    return content[:4] == b"\x7fELF" and b"\0load_platform\0" in content


def _check_xml(path: Path) -> None:
    try:
        tree = ElementTree.parse(path)
    except ElementTree.ParseError as error:
        line, column = error.position
        problem = ErrorString(error.code)
        raise WeftError(
            f"platform {path}: line {line}, column {column + 1}: invalid XML: {problem}"
        ) from None
    except OSError as error:
        raise WeftError(f"{named('platform')}: {path} cannot be read: {error.strerror}") from None
    inputs.declare_inputs(
        {
            place: f"{named('platform')} names to be read"
            for element in tree.iter()
            for name, value in element.attrib.items()
            if name.endswith("file")  # <include>, <trace>, <host availability_file=…>
            for place in (Path(value), path.parent / value)
        }
    )


def choose_ppn(
    fabric: _core.Fabric,
    ranks: int,
    ppn: int | None,
    asked_by: str = named("ranks"),
    ppn_asked_by: str = named("ppn"),
) -> int:
    """Return the ranks per host, after a check that every rank gets a core.

    Errors name `asked_by` as the source of the ranks, and `ppn_asked_by` as the source of the ranks
    per host.
    """
    hosts, cores = len(fabric.compute_hosts), fabric.cores_per_host
    has = f"fabric {fabric.name} has {plural(hosts, 'host')} of {plural(cores, 'core')}"
    if hosts < len(fabric.hosts):
        has += " besides those of [storage]"
    if ranks > hosts * cores:
        raise WeftError(
            f"{asked_by}: found {ranks} ranks; {has}, so that at most {hosts * cores} are allowed;"
            " use fewer ranks or a larger fabric"
        )
    least = -(-ranks // hosts)
    chosen = least if ppn is None else ppn
    if not least <= chosen <= cores:
        choose = (
            f"choose one of these, or leave {named('ppn')} out"
            if ppn_asked_by == named("ppn")
            else f"give one of these as {named('ppn')}"
        )
        raise WeftError(
            f"{ppn_asked_by}: found {chosen}; {has}, so that {ranks} ranks need from {least} to"
            f" {cores} ranks per host; {choose}"
        )
    return chosen
