// SPDX-License-Identifier: LGPL-2.1-only
/* What an in-network collective moves over the links of its tree.
 *
 * Switches add up what comes in and send it towards the members that get it, and copy what is to reach many, so that
 * nothing crosses a link twice. Of a vector of S bytes and a link with the members `below` on one side of it,
 *
 *   Allreduce        S up and S down
 *   Reduce           S, towards the root
 *   Bcast            S, away from the root
 *   Allgather        the parts of the members below up, all others down
 *   Reduce_scatter   all parts but those of the members below up, those down
 *   Barrier          a packet without payload up and down
 *   Alltoall         the blocks from the members below to the others up, those from the others to them down
 *
 * for each message that crosses the link: one per member where members share a host's cable, one per subtree behind a
 * switch that only forwards. For Allgather and Reduce_scatter: the counts of Khalilov et al., section II: with both
 * at once every host's cable carries S each way.
 */
#pragma once

#include "collective/in_network/reduction_tree.hpp"
#include "model/collective/call_descriptor.hpp"
#include "model/collective/members.hpp"
#include "model/nic/nic_model.hpp"

#include <map>
#include <vector>

namespace weft {

/** Load of one call on its tree, by member. */
struct TreeCall {
  Movement movement = Movement::allreduce;
  /// The whole vector: for Allgather and Reduce_scatter all parts together, for Alltoall what one rank gives to all.
  Bytes message;
  int root = -1; ///< member; where one alone gives or gets
  /// Bytes, by member; where members have parts or blocks. Of an Alltoall what the member's ranks give to all, or get:
  /// the sums of a matrix whose blocks are all of one size, as MPI_Alltoall has them.
  std::vector<double> parts;
  /// Of a Reduce_scatter that is executed as an Allreduce: the largest part that a rank copies out of the whole vector.
  Bytes copied = {};

  bool operator==(const TreeCall& other) const = default;
};

/** Returns the load of @p call, whose ranks have @p parts (CallDescriptor::part_sizes). */
TreeCall tree_call(const CallDescriptor& call, const Members& members, const std::vector<double>& parts,
                   const NicModel& nic);

/** What crosses a link in one direction. */
struct Load {
  std::int64_t messages = 0;
  Bytes payload; ///< of all messages
  Bytes wire;    ///< payload with the packets' overhead
  double packets = 0;
};

struct Loads {
  Load up;
  Load down;
};

class Traffic {
  const ReductionTree& tree_;
  const TreeCall& call_;
  std::vector<double> bytes_before_;                             // by place: of the parts of the members before it
  mutable std::map<double, std::vector<double>> packets_before_; // by payload of a packet: the same in packets
  std::vector<std::vector<Below>> contributions_; // by switch, of an Alltoall: the members of each that it takes in

  double packets(const SwitchModel& model, const Below& below) const;
  Bytes bytes(const Below& below) const;
  Loads in_blocks(const SwitchModel& model, const Below& below) const;
  Loads in_parts(const SwitchModel& model, const Below& below, std::int64_t messages) const;

public:
  /** Both must outlive it. */
  Traffic(const ReductionTree& tree, const TreeCall& call);

  /** Packets of all parts together, each part cut into its own. */
  double packets_of_parts(const SwitchModel& model) const
  {
    return packets(model, {0, static_cast<std::int64_t>(call_.parts.size())});
  }

  /** What @p messages messages for and from the members @p below are, in the packets of @p model. In an Alltoall, where
   *  it matters which members share a message, only of one message. */
  Loads loads(const SwitchModel& model, const Below& below, std::int64_t messages) const;
  /** What crosses a link of the switch at @p position. */
  Loads loads(const SwitchModel& model, std::size_t position, const TreeLink& link) const;
};

} // namespace weft
