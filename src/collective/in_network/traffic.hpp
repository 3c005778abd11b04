// SPDX-License-Identifier: LGPL-2.1-only
/* Traffic of an in-network collective on the links of its tree.
 *
 * Switches combine incoming data, send it towards its receivers, and copy data for several receivers, so that no data
 * crosses a link twice. For a vector of S bytes and a link with
 * the members `below` on one side:
 *
 *   Allreduce        S up and S down
 *   Reduce           S, towards the root
 *   Bcast            S, away from the root
 *   Allgather        the parts of the members below up, all others down
 *   Reduce_scatter   all parts except those of the members below up, the parts of the members below down
 *   Barrier          a packet without payload up and down
 *   Alltoall         the blocks from the members below to the others up, and vice versa down
 *
 * for each message that crosses the link: one per member if members share a host's cable, and one
 * per subtree behind a switch that only forwards. For Allgather and Reduce_scatter, these are the
 * counts of Khalilov et al., section II: with both at once every host's cable carries S each way.
 */
#pragma once

#include "collective/in_network/reduction_tree.hpp"
#include "model/collective/call_descriptor.hpp"
#include "model/collective/members.hpp"
#include "model/nic/nic_model.hpp"

#include <algorithm>
#include <map>
#include <vector>

namespace weft {

/** Load of one call on its tree, by member. */
struct TreeCall {
  Movement movement = Movement::allreduce;
  /// The whole vector; for Allgather and Reduce_scatter all parts together, for Alltoall the blocks that one rank
  /// sends.
  Bytes message;
  int root = -1; ///< for rooted collectives, the only member that sends or receives
  /// Bytes by member, if members have parts or blocks. For Alltoall, the bytes that the member's ranks send or receive:
  /// row and column sums of a matrix of equal blocks, as in MPI_Alltoall.
  std::vector<double> parts;
  /// For a Reduce_scatter executed as an Allreduce: the largest part that a rank copies out of the whole vector.
  Bytes copied     = {};
  bool streams     = true; ///< false: another job has locked a link for its streams
  double passed_on = 0;    ///< fraction of the packets that find no free slot, and go on to the server
  Seconds stall    = {};   ///< mean time by which lost packets delay the reuse of a slot
  int trees        = 1;    ///< trees over which the call is divided; this is the load of one of them

  bool operator==(const TreeCall& other) const = default;
  /** Returns the member whose host combines packets that find no slot. */
  int server() const { return std::max(root, 0); }
  /** Returns whether the call's packets need no slots in a switch. */
  bool streams_through(const SwitchModel& model) const
  {
    return streams && movement.combines && message >= model.streaming_from;
  }
};

/** Returns the fraction of @p whole that each of @p trees trees carries; parts and blocks are divided as well. */
TreeCall divided(TreeCall whole, int trees);
/** Returns the number of trees, at most @p most, over which a call is divided: each gets at least one packet of every
 * message, part or block. */
int trees_for(const TreeCall& whole, Bytes payload, int most);

/** Returns the movement of @p call on trees: NICs that scatter whole vectors make an Allreduce of a Reduce_scatter. */
Movement movement_on_trees(const CallDescriptor& call, const NicModel& nic);

/** Returns the load of @p call, whose ranks have @p parts (CallDescriptor::part_sizes). */
TreeCall tree_call(const CallDescriptor& call, const Members& members, const std::vector<double>& parts,
                   const NicModel& nic);

/** Load of a link in one direction. */
struct Load {
  std::int64_t messages = 0;
  Bytes payload; ///< payload of all messages
  Bytes wire;    ///< payload including packet overhead
  double packets = 0;
};

struct Loads {
  Load up;
  Load down;
};

class Traffic {
  const ReductionTree& tree_;
  const TreeCall& call_;
  std::vector<double> bytes_before_; // by position: bytes of the parts of all preceding members
  mutable std::map<double, std::vector<double>>
      packets_before_;                                  // bytes_before_ in packets, keyed by payload of a packet
  std::vector<std::vector<MemberRange>> contributions_; // by switch, for Alltoall: the members behind each contribution

  double packets(const SwitchModel& model, const MemberRange& below) const;
  Bytes bytes(const MemberRange& below) const;
  Loads in_blocks(const SwitchModel& model, const MemberRange& below) const;
  Loads in_parts(const SwitchModel& model, const MemberRange& below, std::int64_t messages) const;

public:
  /** Both arguments must outlive the object. */
  Traffic(const ReductionTree& tree, const TreeCall& call);

  /** Returns the packets of all parts, with each part packetized separately. */
  double packets_of_parts(const SwitchModel& model) const
  {
    return packets(model, {0, static_cast<std::int64_t>(call_.parts.size())});
  }

  /** Returns the loads of @p messages messages for and from the members @p below, in packets of @p model. For Alltoall
   * only one message is supported, since the load depends on which members share a message. */
  Loads loads(const SwitchModel& model, const MemberRange& below, std::int64_t messages) const;
  /** Returns the loads of a link of the switch at @p position. */
  Loads loads(const SwitchModel& model, std::size_t position, const TreeLink& link) const;
  /** Returns the loads of a link for a call of which a fraction is passed on. @p all: its loads if every packet finds a
   * slot. */
  Loads with_passed_on(const SwitchModel& model, const TreeLink& link, const Loads& all) const;
};

} // namespace weft
