// SPDX-License-Identifier: LGPL-2.1-only
/* Where the code of libraries lies, for handlers of signals, which may not ask the dynamic loader. */
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace weft {

/** Addresses of code, from the first to before the last. */
struct LibraryCode {
  std::uintptr_t begin;
  std::uintptr_t end;
};

/** Returns the code of the loaded libraries whose path contains one of @p names; "" is the executable. */
std::vector<LibraryCode> code_of_libraries(std::initializer_list<std::string_view> names);

/** Returns the range that @p address is in, or null. */
const LibraryCode* find_code(const std::vector<LibraryCode>& ranges, std::uintptr_t address);

} // namespace weft
