// SPDX-License-Identifier: LGPL-2.1-only
/* Streams as packets: the call that a network of packets carries instead of a stream's flows. */
#pragma once

#include "collective/in_network/traffic.hpp"
#include "network/tree_packets.hpp"

namespace weft {

/** Returns whether a network of packets carries calls of @p movement: those in which every packet of the vector is
 * combined or copied by every switch, as blocks and parts are not. */
bool has_packets(const Movement& movement);

/** Returns whether a network that loses packets carries them as well: results tell all members which of theirs came. */
bool can_resend(const Movement& movement);

/** Returns the packets of @p call over @p tree, whose movement has_packets(). What @p base_latency, the
 * stream's, has beyond the tree's links and switches delays the first packet. */
TreePackets packets_of(const Fabric& fabric, const ReductionTree& tree, const TreeCall& call, Seconds base_latency,
                       BytesPerSecond host_rate);

} // namespace weft
