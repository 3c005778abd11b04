#include "fabric/link_aggregation.hpp"

#include "fabric/forwarding_hash.hpp"

namespace weft {

int LinkAggregation::choice(VertexId destination, int coordinates) const
{
  return crc_ ? static_cast<int>(crc24(static_cast<ForwardingAddress>(destination))) : coordinates;
}

void check_link_aggregation(const OptionTable& table, const std::string& name)
{
  static const std::vector<std::string> NAMES{"coordinates", "crc"};
  check_name(table, "link_aggregation", name, NAMES);
}

} // namespace weft
