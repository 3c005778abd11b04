// SPDX-License-Identifier: LGPL-2.1-only
/* One call of the multicast protocol: its ranks, blocks and chains. */
#pragma once

#include "collective/multicast/plan.hpp"
#include "collective/multicast/protocol.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace weft {

/** Numbers that identify a call in its run. */
struct MulticastIdentity {
  int communicator;    ///< as in the record; seeds drops
  int handle;          ///< number of the communicator that is unique within the run; seeds jitter
  int world;           ///< number of the job's MPI_COMM_WORLD
  std::int64_t number; ///< index among the communicator's multicast calls
};

struct MulticastCall {
  const MulticastModel& model;
  const std::shared_ptr<const GroupResult> kept_group; ///< group in effect when the call began
  const MulticastGroup& group;
  const std::vector<VertexId>& hosts; ///< by rank
  MulticastIdentity identity;
  MulticastShape shape;
  std::vector<Bytes> sizes; ///< by block

  int ranks() const { return shape.ranks; }
  VertexId host(int rank) const { return hosts[static_cast<std::size_t>(rank)]; }
  const MulticastBlock& block(int number) const { return shape.blocks[static_cast<std::size_t>(number)]; }
  Bytes size(int block) const { return sizes[static_cast<std::size_t>(block)]; }
};

/** Describes a call of the ranks of @p group, which must exist. @p parts: bytes by rank; ranks without bytes have no
 * block. @p model and @p hosts must outlive the call. */
MulticastCall describe_multicast(const MulticastModel& model, std::shared_ptr<const GroupResult> group,
                                 const std::vector<VertexId>& hosts, MulticastIdentity identity,
                                 std::span<const double> parts);

} // namespace weft
