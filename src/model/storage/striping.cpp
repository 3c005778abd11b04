// SPDX-License-Identifier: LGPL-2.1-only
#include "model/storage/striping.hpp"

#include <algorithm>

namespace weft {
namespace {

/** Returns the number of bytes before @p offset in the stripes of target @p place of the round robin. */
std::int64_t bytes_before(const StripeLayout& layout, std::int64_t offset, int place)
{
  const std::int64_t round  = layout.stripe_size * layout.count;
  const std::int64_t beyond = offset % round - place * layout.stripe_size;
  return offset / round * layout.stripe_size + std::clamp(beyond, std::int64_t{0}, layout.stripe_size);
}

} // namespace

std::vector<TargetPart> split_over_targets(const StripeLayout& layout, const Extents& extents)
{
  std::vector<TargetPart> parts(static_cast<std::size_t>(layout.count));
  for (int place = 0; place < layout.count; ++place) {
    TargetPart& part = parts[static_cast<std::size_t>(place)];
    part.target      = layout.target(place);
    for (const Extent& extent : extents) {
      const std::int64_t bytes = bytes_before(layout, extent.end(), place) - bytes_before(layout, extent.offset, place);
      part.bytes += bytes;
      part.requests += bytes > 0 ? 1 : 0;
    }
  }
  std::erase_if(parts, [](const TargetPart& part) { return part.bytes == 0; });
  return parts;
}

} // namespace weft
