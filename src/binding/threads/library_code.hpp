// SPDX-License-Identifier: LGPL-2.1-only
/* Address ranges of libraries' code, for signal handlers, which must not call the dynamic loader. */
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace weft {

/** Half-open address range of code. */
struct LibraryCode {
  std::uintptr_t begin;
  std::uintptr_t end;
};

/** Returns the code of the loaded libraries whose file name begins with one of @p names; "" is the executable. */
std::vector<LibraryCode> code_of_libraries(std::initializer_list<std::string_view> names);

/** Returns the range that contains @p address, or null. */
const LibraryCode* find_code(const std::vector<LibraryCode>& ranges, std::uintptr_t address);

} // namespace weft
