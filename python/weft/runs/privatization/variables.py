# SPDX-License-Identifier: LGPL-2.1-only
"""Detects whether a program or shared library has variables that ranks would share.

A copy per rank costs a file, mappings, and loader time quadratic in the number of copies, since
each load searches all loaded objects. Binaries without writable data need no copies.
"""

from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section, Symbol, SymbolTableSection

from weft.base.file_cache import kept

_WRITABLE = (".data", ".bss", ".ldata", ".lbss", ".tdata", ".tbss")
_CONSTANT_IN_THE_END = ".data.rel.ro"
# Emitted into every library by compilers: a pointer to the library itself, and a finalization flag.
_COMPILERS = ("__dso_handle", "completed.", "__TMC_END__")
_COMPILERS_BYTES = 32
"""Upper bound of the size of these variables, including padding: 16 with GCC on x86-64."""
_HANDLES_OF_A_RANK = ("weft_comm_self", "weft_info_env")
"""Constants whose value the loader sets to an object of the rank that loads the binary."""
_CALLED_BY_THE_LOADER = (".init_array", ".ctors", ".fini_array", ".dtors")
_COMPILERS_CALLS = 8
"""Bytes of a constructor or destructor list with one function, the compiler's."""


@kept
def library_holds_variables(path: Path) -> bool:
    """Return True if a library has writable variables, or lacks the symbols to decide."""
    try:
        with path.open("rb") as file:
            return _has_variables(ELFFile(file))
    except (OSError, ELFError):
        return False  # not a file, such as the kernel's vDSO


@kept
def program_may_be_shared(path: Path) -> bool:
    """Return True if a program provably has no per-rank state: no variables, named or unnamed.

    Such a program also has no constructors or destructors, which each rank would have to execute,
    and does not load libraries, whose symbols the loader would resolve for all ranks.
    """
    with path.open("rb") as file:
        elf = ELFFile(file)
        if _loads_libraries(elf):
            return False
        written = sum(_size(section) for section in elf.iter_sections() if _is_writable(section))
        calls = max(_size(elf.get_section_by_name(name)) for name in _CALLED_BY_THE_LOADER)
        return written <= _COMPILERS_BYTES and calls <= _COMPILERS_CALLS and not _has_variables(elf)


def _loads_libraries(elf: ELFFile) -> bool:
    needed = elf.get_section_by_name(".dynsym")
    return isinstance(needed, SymbolTableSection) and bool(needed.get_symbol_by_name("dlopen"))


def _size(section: Section | None) -> int:
    return 0 if section is None else int(section["sh_size"])


def _has_variables(elf: ELFFile) -> bool:
    """Return True if a binary has variables, or constants that differ between ranks."""
    symbols = elf.get_section_by_name(".symtab")
    if not isinstance(symbols, SymbolTableSection):
        return True
    return any(_is_variable(elf, symbol) for symbol in symbols.iter_symbols())


def _is_variable(elf: ELFFile, symbol: Symbol) -> bool:
    if symbol.name in _HANDLES_OF_A_RANK:
        return True
    if symbol["st_info"]["type"] == "STT_TLS":
        return True
    where = symbol["st_shndx"]
    if symbol["st_info"]["type"] != "STT_OBJECT" or not isinstance(where, int):
        return False
    section = elf.get_section(where)
    return section is not None and _is_writable(section) and not symbol.name.startswith(_COMPILERS)


def _is_writable(section: Section) -> bool:
    return section.name.startswith(_WRITABLE) and not section.name.startswith(_CONSTANT_IN_THE_END)
