# SPDX-License-Identifier: LGPL-2.1-only
"""Lets a library of the wheel do with an older libstdc++: `older_versions.py LIBRARY`.

A library needs each symbol in the version that its linker found, the newest. libstdc++ keeps the
older versions of some symbols, with the same function: what needs these alone of a new version can
as well name the old one. The table of needed versions (.gnu.version_r, LSB "Symbol Versioning") is
changed in place. A library that needs other symbols of the new version stays as it is.
"""

import struct
import sys
from pathlib import Path

from elftools.elf.elffile import ELFFile

WAIT = "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"
OLDER = {"GLIBCXX_3.4.30": ("GLIBCXX_3.4.11", frozenset({WAIT}))}
"""The version to name instead of one, and the symbols that libstdc++ has in both.

condition_variable::wait() is no longer noexcept in GCC 12, and is the same otherwise.
"""


def elf_hash(name: str) -> int:
    """Return the hash of a name by which the loader finds versions (gABI, "Hash Table")."""
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ (high >> 24)) & ~high
    return value


def changes(elf: ELFFile) -> dict[int, bytes]:
    """Return the bytes to write, by offset in the file."""
    needed = elf.get_section_by_name(".gnu.version_r")
    if needed is None:
        return {}
    symbols = list(elf.get_section_by_name(".dynsym").iter_symbols())
    indices = elf.get_section_by_name(".gnu.version")
    found: dict[int, bytes] = {}
    start = needed["sh_offset"]
    for library, versions in needed.iter_versions():
        names = {}
        at = start + library["vn_aux"]
        for version in versions:
            names[version.name] = (at, version["vna_name"], version["vna_other"])
            at += version["vna_next"]
        for name, (older, allowed) in OLDER.items():
            if name not in names or older not in names:
                continue
            place, _, index = names[name]
            used = {
                symbol.name
                for number, symbol in enumerate(symbols)
                if indices.get_symbol(number)["ndx"] == index
            }
            if used <= allowed:
                # vna_hash and vna_name.
                found[place] = struct.pack("<I", elf_hash(older))
                found[place + 8] = struct.pack("<I", names[older][1])
        start += library["vn_next"]
    return found


def main() -> None:
    """Change the library."""
    path = Path(sys.argv[1])
    with path.open("rb") as file:
        found = changes(ELFFile(file))
    image = bytearray(path.read_bytes())
    for offset, value in found.items():
        image[offset : offset + len(value)] = value
    path.write_bytes(image)


if __name__ == "__main__":
    main()
