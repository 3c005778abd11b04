// SPDX-License-Identifier: LGPL-2.1-only
/* How the hosts multicast: the options of the reliable Broadcast and Allgather over the switches' unreliable multicast
 * (Khalilov et al., SC '24), and what gets lost on the way. Any switch copies multicast packets, as those of Ethernet
 * and InfiniBand do. */
#pragma once

#include "base/option.hpp"
#include "base/units.hpp"
#include "model/nic/progress_engine.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/** A [[multicast.drops]] table: which chunks get lost. What it does not name is any. */
struct DropRule {
  double probability = 1;  ///< of each chunk for each receiver; on a link, of each chunk for all receivers behind it
  std::string link;        ///< name of a link or cable, or a pattern; empty: at the receivers
  int call     = -1;       ///< number of the multicast call on its communicator, from 0
  int root     = -1;       ///< rank
  int receiver = -1;       ///< rank
  std::vector<int> chunks; ///< sequence numbers; empty: any

  /** Whether it is for a link of this name; a cable's name stands for its links of both directions. */
  bool hits(const std::string& link_name) const;
};

struct MulticastModel {
  Transport transport = Transport::ud;
  Bytes mtu{4096};                 ///< largest payload of a packet
  Bytes chunk;                     ///< what one send or receive request is for
  Bytes packet_overhead;           ///< headers of a packet
  int chains            = 1;       ///< M: roots that multicast at the same time
  std::string chain_map = "ranks"; ///< neighbours in a chain; "racks" or "pods": one chain for the hosts of each
  int trees             = 1;       ///< subgroups: multicast trees among which every block is divided
  Seconds cutoff_slack{100e-6};    ///< alpha, for which the source has no value and the network no noise: of the cutoff
                                   ///< timer beyond the data's time on the receiver's cable
  Bytes port_buffer{std::numeric_limits<double>::infinity()}; ///< of a switch, before a host's cable
  int drop_seed = 0;
  std::vector<DropRule> drops;

  /** The packets of a block, of which all chunks but the last are full. */
  double packets(Bytes block) const;
  /** What a block is on a link: with its packets' headers. */
  Bytes wire(Bytes block) const { return block + packet_overhead * packets(block); }
};

/** The keys of the [multicast] table. */
const std::vector<Option<MulticastModel>>& multicast_options();
/** The keys of a [[multicast.drops]] table. */
const std::vector<Option<DropRule>>& drop_options();
/** What holds where nothing else is said. */
MulticastModel default_multicast();
/** The [multicast] table of a fabric file. Throws UserError. */
MulticastModel read_multicast(const OptionTable& file);

} // namespace weft
