// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/threads/library_code.hpp"

#include <algorithm>
#include <cstddef>
#include <link.h>
#include <span>

namespace weft {
namespace {

struct Search {
  std::initializer_list<std::string_view> names;
  std::vector<LibraryCode> found;
};

int add_library(dl_phdr_info* library, std::size_t /*size*/, void* search)
{
  auto& [names, found] = *static_cast<Search*>(search);
  // Folders do not count: programs are copied to temporary folders, whose names begin like those of weft's libraries.
  const std::string_view path = library->dlpi_name;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (std::ranges::none_of(
          names, [file](std::string_view name) { return name.empty() ? file.empty() : file.starts_with(name); }))
    return 0;
  for (const auto& segment : std::span(library->dlpi_phdr, library->dlpi_phnum))
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
      found.push_back({library->dlpi_addr + segment.p_vaddr, library->dlpi_addr + segment.p_vaddr + segment.p_memsz});
  return 0;
}

} // namespace

std::vector<LibraryCode> code_of_libraries(std::initializer_list<std::string_view> names)
{
  Search search{.names = names, .found = {}};
  dl_iterate_phdr(add_library, &search);
  return search.found;
}

const LibraryCode* find_code(const std::vector<LibraryCode>& ranges, std::uintptr_t address)
{
  const auto found = std::ranges::find_if(
      ranges, [address](const LibraryCode& one) { return one.begin <= address && address < one.end; });
  return found == ranges.end() ? nullptr : &*found;
}

} // namespace weft
