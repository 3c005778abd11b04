// SPDX-License-Identifier: LGPL-2.1-only
/* What one call of the multicast protocol is: its blocks, of how many chunks, in which chains. */
#pragma once

#include "binding/mechanisms/multicast/multicast_state.hpp"
#include "collective/multicast/protocol.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weft {

struct MulticastCall {
  const std::shared_ptr<const Communicator> communicator;
  const MulticastModel& model;
  const std::shared_ptr<const GroupResult> kept_group; ///< the one that the call began with
  const MulticastGroup& group;
  std::string collective; ///< as the record names it
  std::int64_t number;    ///< among the communicator's multicast ones
  MulticastShape shape;
  std::vector<Bytes> sizes; ///< by block

  const MulticastBlock& block(int number_of_it) const { return shape.blocks[static_cast<std::size_t>(number_of_it)]; }
  Bytes size(int number_of_it) const { return sizes[static_cast<std::size_t>(number_of_it)]; }
};

/** The next call on @p all, whose state is @p state; members without a part, of no bytes, have no block. @p parts: by
 *  member. */
MulticastCall describe_multicast(const std::shared_ptr<Communicator>& all, MulticastState& state,
                                 const MulticastModel& model, std::string collective, const std::vector<double>& parts);

} // namespace weft
