// SPDX-License-Identifier: LGPL-2.1-only
/* Options of the multicast protocol: reliable Broadcast and Allgather over the switches' unreliable multicast (Khalilov
 * et al., SC '24), and packet loss. Every switch replicates multicast packets, as Ethernet and InfiniBand switches do.
 */
#pragma once

#include "base/option.hpp"
#include "base/units.hpp"
#include "model/nic/progress_engine.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/** Selects chunks to drop: a [[multicast.drops]] table. Absent keys match everything. */
struct DropRule {
  double probability = 1;  ///< per chunk and receiver; on a link, per chunk, for all receivers behind the link
  std::string link;        ///< name of a link or cable, or a pattern; empty: drop at the receivers
  int call     = -1;       ///< number of the multicast call on its communicator, from 0
  int root     = -1;       ///< rank
  int receiver = -1;       ///< rank
  std::vector<int> chunks; ///< sequence numbers; empty: any

  /** Returns true if the rule applies to the link. The name of a cable matches its links in both directions. */
  bool hits(const std::string& link_name) const;
};

struct MulticastModel {
  Transport transport = Transport::ud;
  Bytes mtu{4096};                 ///< largest payload of a packet
  Bytes chunk;                     ///< size of a send or receive request
  Bytes packet_overhead;           ///< headers per packet
  int chains            = 1;       ///< M: roots that multicast simultaneously
  std::string chain_map = "ranks"; ///< neighbours in a chain; "racks" or "pods": one chain per rack or pod
  int trees             = 1;       ///< subgroups: multicast trees over which every block is divided
  Seconds cutoff_slack{100e-6}; ///< alpha, the cutoff timer's margin beyond the transfer time on the receiver's cable;
                                ///< the paper gives no value
  Bytes port_buffer{std::numeric_limits<double>::infinity()}; ///< switch buffer in front of a host's cable
  std::string slow_branch = "buffer"; ///< "pause": no branch advances faster than the slowest one
  int drop_seed           = 0;
  std::vector<DropRule> drops;

  /** Returns the number of packets of a block; all chunks but the last are full. */
  double packets(Bytes block) const;
  /** Returns whether a slow branch of a tree pauses the roots. */
  bool pauses() const { return slow_branch == "pause"; }
  /** Returns the size of a block on a link, headers included. */
  Bytes wire(Bytes block) const { return block + packet_overhead * packets(block); }
};

/** Returns the keys of the [multicast] table. */
const std::vector<Option<MulticastModel>>& multicast_options();
/** Returns the keys of a [[multicast.drops]] table. */
const std::vector<Option<DropRule>>& drop_options();
/** Returns the model of fabrics without a [multicast] table. */
MulticastModel default_multicast();
/** Reads the [multicast] table of a fabric file. Throws UserError. */
MulticastModel read_multicast(const OptionTable& file);

} // namespace weft
