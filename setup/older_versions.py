# SPDX-License-Identifier: LGPL-2.1-only
"""Makes a library of the wheel accept an older libstdc++: `older_versions.py LIBRARY`.

A library requires each symbol in the newest version, which its linker found. libstdc++ also
provides older versions of some symbols with the same behaviour: a library that requires only these
symbols of the new version can require the old version instead. The script changes the table of
required versions (.gnu.version_r, LSB "Symbol Versioning") in place. It does not change a library
that requires other symbols of the new version.
"""

import struct
import sys
from pathlib import Path

from elftools.elf.elffile import ELFFile

WAIT = "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"
OLDER = {"GLIBCXX_3.4.30": ("GLIBCXX_3.4.11", frozenset({WAIT}))}
"""Older version to require instead, and the symbols that libstdc++ provides in both versions.

condition_variable::wait() differs in GCC 12 only in that it is no longer noexcept.
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
    """Return the bytes to be written, by offset in the file."""
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
                # vna_hash and vna_name
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
