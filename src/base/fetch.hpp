// SPDX-License-Identifier: LGPL-2.1-only
/* Memory that is asked for before it is needed. What thousands of ranks have lies all over the memory, more than caches
 * hold, and is touched a rank at a time: without this the processor waits for one line after the other. */
#pragma once

#include <algorithm>
#include <cstddef>

namespace weft {

/** Have the @p bytes from @p from on brought near, but for what the processor itself sees coming. Any address will do.
 */
inline void fetch(const void* from, std::size_t bytes)
{
  constexpr std::size_t LINE = 64;
  constexpr std::size_t MOST = 2048;
  const auto* const begin    = static_cast<const std::byte*>(from);
  for (std::size_t at = 0; at < std::min(bytes, MOST); at += LINE)
    __builtin_prefetch(begin + at);
  if (bytes > 0 && bytes < MOST)
    __builtin_prefetch(begin + bytes - 1);
  asm volatile(""); // or GCC takes a function that only fetches for one that does nothing, and leaves its calls out
}

} // namespace weft
