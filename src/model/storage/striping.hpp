// SPDX-License-Identifier: LGPL-2.1-only
/* Striping: the mapping from bytes of a file to targets. */
#pragma once

#include "model/storage/extents.hpp"

namespace weft {

/** Layout of a file: its stripes are distributed round-robin over `count` targets, starting with `first`. */
struct StripeLayout {
  std::int64_t stripe_size = 1;
  int first                = 0;
  int count                = 1;
  int targets              = 1; ///< of the file system; target 0 follows the last one

  int target(std::int64_t stripe) const
  {
    return static_cast<int>((first + stripe % count) % static_cast<std::int64_t>(targets));
  }
};

/** Share of an access that goes to one target. */
struct TargetPart {
  int target            = 0;
  std::int64_t bytes    = 0;
  std::int64_t requests = 0;
};

/** Returns the shares of an access. An extent becomes one request per target, on which its stripes are consecutive. */
std::vector<TargetPart> split_over_targets(const StripeLayout& layout, const Extents& extents);

} // namespace weft
