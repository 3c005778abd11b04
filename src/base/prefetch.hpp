// SPDX-License-Identifier: LGPL-2.1-only
/* Cache prefetching. The state of thousands of ranks exceeds the caches and is visited rank by rank, so each visit
 * would wait for memory without prefetching. */
#pragma once

#include <algorithm>
#include <cstddef>

namespace weft {

/** Prefetches up to 2 KiB; the hardware prefetcher covers the rest. Any address is allowed, mapped or not. */
inline void prefetch(const void* from, std::size_t bytes)
{
  constexpr std::size_t LINE = 64;
  constexpr std::size_t MOST = 2048;
  const auto* const begin    = static_cast<const std::byte*>(from);
#pragma GCC unroll 32
  for (std::size_t at = 0; at < std::min(bytes, MOST); at += LINE)
    __builtin_prefetch(begin + at);
  if (bytes > 0 && bytes < MOST)
    __builtin_prefetch(begin + bytes - 1);
  asm volatile(""); // otherwise GCC removes the calls of a function that only prefetches
}

} // namespace weft
