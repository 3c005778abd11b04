# SPDX-License-Identifier: LGPL-2.1-only
"""Copies mimalloc into the package: `allocator.py LIBRARY COPY`.

The copy is loaded before the libraries of a simulated program, so every exported symbol would
override the program's function of the same name: mimalloc exports `vfree`, `reallocf`,
`malloc_size` and other functions that programs also define. Only the functions called by
src/allocator/allocator.cpp stay visible; all other functions become hidden, so that the loader
skips them (gABI, "Symbol Visibility"). Hidden functions include the C++ operators, because a
mimalloc compiled as C aborts instead of throwing std::bad_alloc. The copy has its own DT_SONAME,
because a program may be linked with the system's mimalloc.
"""

import struct
import sys
from collections.abc import Iterator
from pathlib import Path

SEEN = frozenset(
    b"mi_malloc mi_zalloc mi_realloc mi_free mi_memalign mi_usable_size mi_manage_os_memory"
    b" mi_option_enable".split()
)
# Constants of <elf.h>: SHT_DYNAMIC, SHT_DYNSYM, DT_SONAME, SHN_UNDEF, STV_HIDDEN, and the mask of
# st_other.
DYNAMIC, DYNSYM = 6, 11
SONAME = 14
UNDEFINED = 0
HIDDEN, VISIBILITY = 2, 3


def sections(image: bytearray) -> Iterator[tuple[int, int, int, int]]:
    """Yield type, offset, size and link of each section of a 64-bit ELF file."""
    if image[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a 64-bit little-endian ELF file")
    (start,) = struct.unpack_from("<Q", image, 40)
    each, count = struct.unpack_from("<HH", image, 58)
    for header in range(start, start + each * count, each):
        (kind,) = struct.unpack_from("<I", image, header + 4)
        offset, size, link = struct.unpack_from("<QQI", image, header + 24)
        yield kind, offset, size, link


def text(image: bytearray, start: int) -> bytes:
    """Return the NUL-terminated text at an offset."""
    return bytes(image[start : image.index(0, start)])


def hide(image: bytearray, symbols: range, strings: int) -> set[bytes]:
    """Hide the definitions that the allocator does not call; return the visible ones."""
    seen = set[bytes]()
    for symbol in symbols:
        name, _, other, section = struct.unpack_from("<IBBH", image, symbol)
        called = text(image, strings + name)
        if called in SEEN:
            seen.add(called)
        elif called and section != UNDEFINED:
            image[symbol + 5] = other & ~VISIBILITY | HIDDEN
    return seen


def rename(image: bytearray, entries: range, strings: int, name: bytes) -> None:
    """Replace the library's DT_SONAME."""
    for entry in entries:
        tag, value = struct.unpack_from("<QQ", image, entry)
        if tag == SONAME:
            old = text(image, strings + value)
            if len(name) > len(old):
                raise ValueError(f"its name {old.decode()} has no room for {name.decode()}")
            start = strings + value
            image[start : start + len(old)] = name.ljust(len(old), b"\0")


def adapted(image: bytearray, name: bytes) -> bytearray:
    """Return the library as adapted for the package."""
    found = list(sections(image))
    seen = set[bytes]()
    for kind, offset, size, link in found:
        if kind == DYNSYM:
            seen |= hide(image, range(offset, offset + size, 24), found[link][1])
        elif kind == DYNAMIC:
            rename(image, range(offset, offset + size, 16), found[link][1], name)
    if missing := SEEN - seen:
        raise ValueError(f"it has no {b', '.join(sorted(missing)).decode()}")
    return image


def main() -> None:
    """Write the copy."""
    source, copy = map(Path, sys.argv[1:])
    try:
        copy.write_bytes(adapted(bytearray(source.read_bytes()), copy.name.encode()))
    except (OSError, ValueError) as error:
        sys.exit(f"allocator: {source}: {error}")


if __name__ == "__main__":
    main()
