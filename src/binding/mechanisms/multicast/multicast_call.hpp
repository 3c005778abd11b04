// SPDX-License-Identifier: LGPL-2.1-only
/* One call of the multicast protocol: its blocks, their numbers of chunks, and their chains. */
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
  const std::shared_ptr<const GroupResult> kept_group; ///< group in effect when the call began
  const MulticastGroup& group;
  std::string collective; ///< name in the record
  std::int64_t number;    ///< index among the communicator's multicast calls
  MulticastShape shape;
  std::vector<Bytes> sizes; ///< by block

  const MulticastBlock& block(int number_of_it) const { return shape.blocks[static_cast<std::size_t>(number_of_it)]; }
  Bytes size(int number_of_it) const { return sizes[static_cast<std::size_t>(number_of_it)]; }
};

/** Describes the next call on @p all, whose state is @p state. @p parts: bytes by member; members
 *  without bytes have no block. */
MulticastCall describe_multicast(const std::shared_ptr<Communicator>& all, MulticastState& state,
                                 const MulticastModel& model, std::string collective, const std::vector<double>& parts);

} // namespace weft
