// SPDX-License-Identifier: LGPL-2.1-only
/* Observations of ranks in multicast calls: phases, dropped chunks, recovery; and the traffic of the calls. */
#pragma once

#include "collective/multicast/protocol.hpp"

#include <cstdint>
#include <map>

namespace weft {

/** Time of a rank in the phases of multicast calls, in simulated seconds. */
struct MulticastTimes {
  double barrier   = 0;
  double multicast = 0;
  double recovery  = 0;
  double handshake = 0;

  void add(MulticastPhase phase, double time);
  void add(const MulticastTimes& other);
};

/** Chunks that did not reach a rank. */
struct MulticastDrops {
  std::int64_t all     = 0;
  std::int64_t staging = 0; ///< included: dropped for lack of room in a staging ring
  std::int64_t port    = 0; ///< included: dropped for lack of room in a switch

  void add(const MulticastDrops& other);
};

/** A rank's view of multicast calls. */
struct MulticastRank {
  MulticastDrops drops;
  MulticastCounts counts;
  MulticastTimes times;

  void add(const MulticastRank& other);
};

/** Traffic of multicast calls. */
struct MulticastTraffic {
  std::int64_t multicasts = 0; ///< blocks sent by roots
  std::int64_t chunks     = 0; ///< chunks of the blocks, each counted once regardless of the number of receivers
  double payload          = 0; ///< bytes of the blocks
  double headers          = 0; ///< bytes of their packets' headers
  double fetched_bytes    = 0;

  void add(const MulticastTraffic& other);
};

/** Multicast calls of one collective on communicators of one size. */
struct MulticastStatistics {
  std::int64_t calls = 0;
  MulticastTraffic traffic;
  std::map<int, MulticastRank> ranks; ///< by rank of the run

  void add(const MulticastStatistics& other);
};

} // namespace weft
