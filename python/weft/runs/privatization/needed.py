# SPDX-License-Identifier: LGPL-2.1-only
"""Link dependencies of programs and libraries, and detection of other MPIs among them."""

from collections.abc import Sequence
from pathlib import Path

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from weft.base.file_cache import kept

_OTHER_MPIS = ("libmpi.", "libmpi_", "libmpich", "libmpicxx")


def needed(elf: ELFFile) -> tuple[str, ...]:
    """Return the names of the libraries that a file is linked with."""
    section = elf.get_section_by_name(".dynamic")
    if not isinstance(section, DynamicSection):
        return ()
    return tuple(tag.needed for tag in section.iter_tags("DT_NEEDED"))  # type: ignore[attr-defined]


def other_mpi_among(libraries: Sequence[str]) -> str:
    """Return the first library of another MPI, or an empty text."""
    return next((name for name in libraries if name.startswith(_OTHER_MPIS)), "")


def other_mpi(library: Path) -> str:
    """Return the library of another MPI that a shared library is linked with, or an empty text."""
    return other_mpi_among(_linked_with(library))


@kept
def _linked_with(library: Path) -> tuple[str, ...]:
    """Return the library names without reading the symbols, which can be more than 100,000."""
    with library.open("rb") as file:
        return needed(ELFFile(file))
