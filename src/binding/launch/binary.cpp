// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/launch/binary.hpp"

#include "binding/process/process.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <unistd.h>

namespace weft {
namespace {

/** Returns the number of the next copy. A rank's forked child uses different numbers, since it shares the folder. */
std::size_t next_number()
{
  constexpr std::size_t OF_CHILDREN = 20'000'000;
  constexpr std::size_t PER_CHILD   = 1000;
  constexpr std::size_t CHILDREN    = 40'000;
  static std::size_t number         = 0;
  static const auto PARENT          = getpid();
  static auto here                  = PARENT;
  if (is_forked_child() && here == PARENT) {
    here   = getpid();
    number = OF_CHILDREN + PER_CHILD * (static_cast<std::size_t>(here) % CHILDREN);
  }
  return number++;
}

/** Appends an object's bytes. */
template <class Object> void append(std::string& bytes, const Object& object)
{
  bytes.append(reinterpret_cast<const char*>(&object), sizeof object);
}

/** Writes a file, replacing an existing one. */
void write_bytes(const std::filesystem::path& file, const std::string& bytes)
{
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << bytes;
  out.close();
  if (not out)
    throw std::runtime_error("cannot be written; the disk may be full");
}

/** Returns the header of a shared library for this machine, which is followed by the segment descriptions. */
ElfW(Ehdr) library_header(std::size_t segments)
{
  ElfW(Ehdr) header{};
  std::ifstream("/proc/self/exe", std::ios::binary).read(reinterpret_cast<char*>(&header), sizeof header);
  header.e_type      = ET_DYN;
  header.e_entry     = 0;
  header.e_phoff     = sizeof header;
  header.e_phentsize = sizeof(ElfW(Phdr));
  header.e_phnum     = static_cast<ElfW(Half)>(segments);
  header.e_shoff     = 0;
  header.e_shentsize = 0;
  header.e_shnum     = 0;
  header.e_shstrndx  = 0;
  return header;
}

constexpr std::size_t ALIGNED = 16;

/** Returns the description of a segment that is loaded at its file offset. */
ElfW(Phdr) segment(ElfW(Word) type, std::size_t offset, std::size_t bytes)
{
  ElfW(Phdr) made{};
  made.p_type   = type;
  made.p_flags  = PF_R | PF_W; // NOLINT(bugprone-signed-bitwise)
  made.p_offset = offset;
  made.p_vaddr  = offset;
  made.p_paddr  = offset;
  made.p_filesz = bytes;
  made.p_memsz  = bytes;
  made.p_align  = type == PT_LOAD ? static_cast<std::size_t>(getpagesize()) : ALIGNED;
  return made;
}

} // namespace

std::string fresh_name(std::string name)
{
  constexpr std::string_view DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";
  std::size_t number                = next_number();
  for (std::size_t i = 0; i < std::min<std::size_t>(5, name.size()); ++i, number /= DIGITS.size())
    name[i] = DIGITS[number % DIGITS.size()];
  if (number > 0)
    throw std::length_error("the name " + name + " is too short for one copy per rank");
  std::ranges::replace(name, '/', '_');
  return name;
}

template <class Struct> const Struct* Binary::at(std::size_t offset) const
{
  if (offset + sizeof(Struct) > bytes_.size())
    throw std::out_of_range("beyond the end of the file");
  return reinterpret_cast<const Struct*>(&bytes_[offset]);
}

std::vector<ElfW(Phdr)> Binary::segments() const
{
  const auto* header = at<ElfW(Ehdr)>(0);
  std::vector<ElfW(Phdr)> all;
  all.reserve(header->e_phnum);
  for (std::size_t i = 0; i < header->e_phnum; ++i)
    all.push_back(*at<ElfW(Phdr)>(header->e_phoff + i * header->e_phentsize));
  return all;
}

std::size_t Binary::offset_of(ElfW(Addr) address) const
{
  for (const auto& segment : segments())
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address < segment.p_vaddr + segment.p_filesz)
      return address - segment.p_vaddr + segment.p_offset;
  throw std::out_of_range("an address that no segment has");
}

std::vector<ElfW(Dyn)> Binary::dynamic() const
{
  std::vector<ElfW(Dyn)> entries;
  for (const auto& segment : segments())
    if (segment.p_type == PT_DYNAMIC)
      for (std::size_t at_byte = segment.p_offset; at<ElfW(Dyn)>(at_byte)->d_tag != DT_NULL;
           at_byte += sizeof(ElfW(Dyn)))
        entries.push_back(*at<ElfW(Dyn)>(at_byte));
  return entries;
}

std::size_t Binary::strings() const
{
  for (const auto& entry : dynamic())
    if (entry.d_tag == DT_STRTAB)
      return offset_of(entry.d_un.d_ptr);
  throw std::out_of_range("no table of strings");
}

void Binary::rename_at(std::size_t offset, const std::string& from, const std::string& to)
{
  if (offset + from.size() < bytes_.size() && std::strcmp(&bytes_[offset], from.c_str()) == 0)
    bytes_.replace(offset, to.size(), to);
}

Binary::Binary(const std::filesystem::path& file)
{
  std::ifstream in(file, std::ios::binary);
  bytes_.assign(std::istreambuf_iterator<char>(in), {});
  if (not in || bytes_.empty())
    throw std::runtime_error("cannot be read");
}

std::vector<std::string> Binary::texts(ElfW(Sxword) tag) const
{
  std::vector<std::string> found;
  for (const auto& entry : dynamic())
    if (entry.d_tag == tag)
      found.emplace_back(at<char>(strings() + entry.d_un.d_val));
  return found;
}

bool Binary::imports(const std::string& symbol) const
{
  const auto* header = at<ElfW(Ehdr)>(0);
  const auto section = [&](std::size_t number) {
    return at<ElfW(Shdr)>(header->e_shoff + number * header->e_shentsize);
  };
  for (std::size_t number = 0; number < header->e_shnum; ++number) {
    const auto* table = section(number);
    if (table->sh_type != SHT_DYNSYM)
      continue;
    const auto names = section(table->sh_link)->sh_offset;
    for (std::size_t offset = 0; offset < table->sh_size; offset += sizeof(ElfW(Sym))) {
      const auto* its = at<ElfW(Sym)>(table->sh_offset + offset);
      if (its->st_shndx == SHN_UNDEF && symbol == at<char>(names + its->st_name))
        return true;
    }
  }
  return false;
}

void Binary::rename(const std::string& from, const std::string& to)
{
  std::size_t versions = 0;
  for (const auto& entry : dynamic()) {
    if (entry.d_tag == DT_VERNEED)
      versions = offset_of(entry.d_un.d_ptr);
    if (entry.d_tag == DT_NEEDED || entry.d_tag == DT_SONAME)
      rename_at(strings() + entry.d_un.d_val, from, to);
  }
  while (versions != 0) {
    const auto* needed = at<ElfW(Verneed)>(versions);
    rename_at(strings() + needed->vn_file, from, to);
    versions = needed->vn_next != 0 ? versions + needed->vn_next : 0;
  }
}

void Binary::write(const std::filesystem::path& file) const
{
  write_bytes(file, bytes_);
}

// The loader relocates the dynamic section in place, so the segment is writable. Without PT_GNU_STACK, the loader would
// make all stacks executable.
void write_group(const std::filesystem::path& file, const std::vector<std::string>& libraries)
{
  constexpr std::size_t SEGMENTS = 3;
  std::string strings(1, '\0');
  std::vector<ElfW(Dyn)> dynamic;
  const auto add = [&dynamic](ElfW(Sxword) tag, std::size_t value) {
    ElfW(Dyn) entry{};
    entry.d_tag      = tag;
    entry.d_un.d_val = value;
    dynamic.push_back(entry);
  };
  for (const std::string& library : libraries) {
    add(DT_NEEDED, strings.size());
    strings += library + '\0';
  }
  add(DT_RPATH, strings.size());
  strings += std::filesystem::absolute(file).parent_path().string() + '\0';
  strings.resize((strings.size() + ALIGNED - 1) / ALIGNED * ALIGNED);
  constexpr std::array<ElfW(Word), 4> HASH{1, 1, 0, 0}; // one bucket, one symbol: the undefined one
  const std::size_t hash    = sizeof(ElfW(Ehdr)) + SEGMENTS * sizeof(ElfW(Phdr));
  const std::size_t symbols = hash + sizeof HASH;
  const std::size_t texts   = symbols + sizeof(ElfW(Sym));
  const std::size_t entries = texts + strings.size();
  add(DT_HASH, hash);
  add(DT_SYMTAB, symbols);
  add(DT_SYMENT, sizeof(ElfW(Sym)));
  add(DT_STRTAB, texts);
  add(DT_STRSZ, strings.size());
  add(DT_NULL, 0);
  const std::size_t size = entries + dynamic.size() * sizeof(ElfW(Dyn));

  std::string bytes;
  append(bytes, library_header(SEGMENTS));
  append(bytes, segment(PT_LOAD, 0, size));
  append(bytes, segment(PT_DYNAMIC, entries, dynamic.size() * sizeof(ElfW(Dyn))));
  append(bytes, segment(PT_GNU_STACK, 0, 0));
  append(bytes, HASH);
  append(bytes, ElfW(Sym){});
  bytes += strings;
  for (const auto& entry : dynamic)
    append(bytes, entry);
  write_bytes(file, bytes);
}

} // namespace weft
