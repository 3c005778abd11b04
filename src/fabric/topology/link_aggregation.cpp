// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/topology/link_aggregation.hpp"

#include "fabric/topology/forwarding_hash.hpp"

namespace weft {

int LinkAggregation::choice(VertexId destination, int coordinates) const
{
  return crc_ ? static_cast<int>(crc24(static_cast<ForwardingAddress>(destination))) : coordinates;
}

} // namespace weft
