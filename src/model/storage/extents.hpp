// SPDX-License-Identifier: LGPL-2.1-only
/* Consecutive bytes of a file or of memory, and lists of them. */
#pragma once

#include <cstdint>
#include <vector>

namespace weft {

/** Contiguous byte range. */
struct Extent {
  std::int64_t offset = 0;
  std::int64_t length = 0;

  std::int64_t end() const { return offset + length; }
  bool operator==(const Extent&) const = default;
};

/** Extents in the order of their data. */
using Extents = std::vector<Extent>;

/** Appends an extent, merging it into the last one if they are adjacent. Empty extents are dropped. */
inline void append(Extents& all, Extent more)
{
  if (more.length == 0)
    return;
  if (not all.empty() && all.back().end() == more.offset)
    all.back().length += more.length;
  else
    all.push_back(more);
}

inline std::int64_t bytes_of(const Extents& all)
{
  std::int64_t bytes = 0;
  for (const Extent& one : all)
    bytes += one.length;
  return bytes;
}

} // namespace weft
