// SPDX-License-Identifier: LGPL-2.1-only
/* Private copies of the program's own shared libraries, which give each rank its own global
 * variables.
 *
 * SMPI copies the program for each rank and loads the copy, but the loader would load a library
 * that the copies share only once. The loader identifies libraries by name, so each rank's copies
 * get unique names of the same length. These overwrite the old names (DT_NEEDED) in the copies of
 * the program and of the libraries. The loader finds them in SMPI's temporary directory, which
 * LD_LIBRARY_PATH must contain; they are unlinked once loaded.
 *
 * WEFT_PRIVATE_LIBRARIES lists the libraries, one a line, as NAME=PATH: the name in the program and
 * the file. */
#include "binding/launch/libraries.hpp"

#include "binding/abi/interposed_symbol.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <link.h>
#include <stdexcept>
#include <string>
#include <vector>
#include <xbt/config.hpp>

namespace fs = std::filesystem;

namespace weft {
namespace {

struct LoadedLibrary {
  std::string name;
  fs::path file;
};

std::vector<LoadedLibrary> libraries_of(const Lines& lines)
{
  std::vector<LoadedLibrary> libraries;
  for (const std::string& line : lines)
    if (const auto equals = line.find('='); equals != std::string::npos)
      libraries.push_back({line.substr(0, equals), line.substr(equals + 1)});
  return libraries;
}

/** Returns a unique name as long as the old one; it begins with @p number in base 36. */
std::string fresh_name(std::string name, std::size_t number)
{
  constexpr std::string_view DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";
  for (std::size_t i = 0; i < std::min<std::size_t>(5, name.size()); ++i, number /= DIGITS.size())
    name[i] = DIGITS[number % DIGITS.size()];
  if (number > 0)
    throw std::length_error(name);
  std::ranges::replace(name, '/', '_');
  return name;
}

/** In-memory ELF file whose needed libraries can be renamed. */
class Binary {
  std::string bytes_;

  template <class Struct> const Struct* at(std::size_t offset) const
  {
    if (offset + sizeof(Struct) > bytes_.size())
      throw std::out_of_range("beyond the end of the file");
    return reinterpret_cast<const Struct*>(&bytes_[offset]);
  }

  std::vector<ElfW(Phdr)> segments() const
  {
    const auto* header = at<ElfW(Ehdr)>(0);
    std::vector<ElfW(Phdr)> all;
    all.reserve(header->e_phnum);
    for (std::size_t i = 0; i < header->e_phnum; ++i)
      all.push_back(*at<ElfW(Phdr)>(header->e_phoff + i * header->e_phentsize));
    return all;
  }

  std::size_t offset_of(ElfW(Addr) address) const
  {
    for (const auto& segment : segments())
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address < segment.p_vaddr + segment.p_filesz)
        return address - segment.p_vaddr + segment.p_offset;
    throw std::out_of_range("an address that no segment has");
  }

  std::vector<ElfW(Dyn)> dynamic() const
  {
    std::vector<ElfW(Dyn)> entries;
    for (const auto& segment : segments())
      if (segment.p_type == PT_DYNAMIC)
        for (std::size_t at_byte = segment.p_offset; at<ElfW(Dyn)>(at_byte)->d_tag != DT_NULL;
             at_byte += sizeof(ElfW(Dyn)))
          entries.push_back(*at<ElfW(Dyn)>(at_byte));
    return entries;
  }

  void rename_at(std::size_t offset, const std::string& from, const std::string& to)
  {
    if (offset + from.size() < bytes_.size() && std::strcmp(&bytes_[offset], from.c_str()) == 0)
      bytes_.replace(offset, to.size(), to);
  }

public:
  explicit Binary(const fs::path& file)
  {
    std::ifstream in(file, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
    if (not in || bytes_.empty())
      throw std::runtime_error("cannot be read");
  }

  /** Renames a library in DT_NEEDED and in the symbol version requirements. */
  void rename(const std::string& from, const std::string& to)
  {
    std::size_t strings  = 0;
    std::size_t versions = 0;
    for (const auto& entry : dynamic()) {
      if (entry.d_tag == DT_STRTAB)
        strings = offset_of(entry.d_un.d_ptr);
      if (entry.d_tag == DT_VERNEED)
        versions = offset_of(entry.d_un.d_ptr);
    }
    for (const auto& entry : dynamic())
      if (entry.d_tag == DT_NEEDED)
        rename_at(strings + entry.d_un.d_val, from, to);
    while (versions != 0) {
      const auto* needed = at<ElfW(Verneed)>(versions);
      rename_at(strings + needed->vn_file, from, to);
      versions = needed->vn_next != 0 ? versions + needed->vn_next : 0;
    }
  }

  void write(const fs::path& file) const
  {
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out << bytes_;
    out.close();
    if (not out)
      throw std::runtime_error("cannot be written; the disk may be full");
  }
};

/** Copies the libraries for a rank's copy of the program. Returns the files to unlink after loading. */
std::vector<fs::path> copy_libraries(const fs::path& program, const std::vector<LoadedLibrary>& libraries)
{
  static std::size_t number = 0;
  std::vector<std::string> names;
  names.reserve(libraries.size());
  for (const LoadedLibrary& library : libraries)
    names.push_back(fresh_name(library.name, number++));
  const auto rename_all = [&](Binary& binary) {
    for (std::size_t i = 0; i < names.size(); ++i)
      binary.rename(libraries[i].name, names[i]);
  };
  std::vector<fs::path> copies;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Binary binary(libraries[i].file);
    rename_all(binary);
    copies.push_back(program.parent_path() / names[i]);
    binary.write(copies.back());
  }
  Binary binary(program);
  rename_all(binary);
  binary.write(program);
  return copies;
}

/** Returns whether SMPI is about to load a rank's copy of the program. */
bool is_copy(const char* path)
{
  return path && not settings().private_libraries.empty() &&
         fs::path(path).parent_path() == simgrid::config::get_value<std::string>("smpi/tmpdir");
}

void* load_by(void* (*loader)(const char*, int), const char* path, int flags, const Lines& libraries)
{
  try {
    const std::vector<fs::path> copies = copy_libraries(path, libraries_of(libraries));
    void* handle                       = loader(path, flags);
    if (not simgrid::config::get_value<bool>("smpi/keep-temps"))
      for (const fs::path& copy : copies)
        fs::remove(copy);
    return handle;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "weft: a rank's own copy of the program's shared libraries: %s\n", error.what());
    std::_Exit(2);
  }
}

} // namespace

void* load_copy(const std::string& program, const Lines& libraries)
{
  static const auto LOAD = next_definition<void* (*)(const char*, int)>("dlopen");
  constexpr int FLAGS    = RTLD_LAZY | RTLD_LOCAL; // NOLINT(hicpp-signed-bitwise)
  return libraries.empty() ? LOAD(program.c_str(), FLAGS) : load_by(LOAD, program.c_str(), FLAGS, libraries);
}

} // namespace weft

extern "C" void* weft_dlopen(const char* path, int flags) WEFT_REPLACES("dlopen");
void* weft_dlopen(const char* path, int flags)
{
  static const auto THEIRS = weft::next_definition<void* (*)(const char*, int)>("dlopen");
  // The loader looks up its caller, so this must be a tail call.
  if (not weft::is_copy(path))
    return THEIRS(path, flags);
  return weft::load_by(THEIRS, path, flags, weft::settings().private_libraries);
}
