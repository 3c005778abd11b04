// SPDX-License-Identifier: LGPL-2.1-only
/* Shared libraries as ELF files, modified before they are loaded. */
#pragma once

#include <cstddef>
#include <filesystem>
#include <link.h>
#include <string>
#include <vector>

namespace weft {

/** Returns a name of the same length that no other copy in this process has. */
std::string fresh_name(std::string name);

/** In-memory ELF file whose name and needed libraries can be renamed. */
class Binary {
  std::string bytes_;

  template <class Struct> const Struct* at(std::size_t offset) const;
  std::vector<ElfW(Phdr)> segments() const;
  std::size_t offset_of(ElfW(Addr) address) const;
  std::vector<ElfW(Dyn)> dynamic() const;
  std::size_t strings() const;
  void rename_at(std::size_t offset, const std::string& from, const std::string& to);

public:
  explicit Binary(const std::filesystem::path& file);

  /** Returns the texts of the entries with @p tag: DT_NEEDED, DT_SONAME, DT_RPATH, DT_RUNPATH. */
  std::vector<std::string> texts(ElfW(Sxword) tag) const;
  /** Returns whether the file imports @p symbol from another one. */
  bool imports(const std::string& symbol) const;
  /** Renames a library in DT_SONAME and DT_NEEDED, and in the symbol version requirements. The new name has the same
   * length. */
  void rename(const std::string& from, const std::string& to);
  void write(const std::filesystem::path& file) const;
};

/** Writes an otherwise empty library that needs @p libraries, which are in its folder. Libraries loaded for it look up
 * symbols in the process first, then in all of @p libraries, in this order. */
void write_group(const std::filesystem::path& file, const std::vector<std::string>& libraries);

} // namespace weft
