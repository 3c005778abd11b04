// SPDX-License-Identifier: LGPL-2.1-only
/* Multicast calls in the record: what ranks observed, and the traffic on links. */
#pragma once

#include "binding/observe/record_part.hpp"
#include "collective/multicast/protocol.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

/** Time of a rank in the phases of multicast calls, in simulated seconds. */
struct MulticastTimes {
  double barrier   = 0;
  double multicast = 0;
  double recovery  = 0;
  double handshake = 0;
};

/** Chunks that did not reach a rank. */
struct MulticastDrops {
  std::int64_t all     = 0;
  std::int64_t staging = 0; ///< included: dropped for lack of room in a staging ring
  std::int64_t port    = 0; ///< included: dropped for lack of room in a switch
};

/** A rank's view of multicast calls. */
struct MulticastRank {
  MulticastDrops drops;
  MulticastCounts counts;
  MulticastTimes times;

  void add(const MulticastRank& other);
};

/** One rank's multicast call, whose phases are consecutive. */
struct MulticastRankCall {
  int rank; ///< in the run
  int communicator;
  std::string collective;
  double start;
  MulticastRank seen;
};

/** Multicast calls of one collective on communicators of one size. */
struct MulticastStatistics {
  std::int64_t calls      = 0;
  std::int64_t multicasts = 0; ///< blocks sent by roots
  std::int64_t chunks     = 0; ///< chunks of the blocks, each counted once regardless of the number of receivers
  double payload          = 0; ///< bytes of the blocks
  double headers          = 0; ///< bytes of their packets' headers
  double fetched_bytes    = 0;
  std::map<int, MulticastRank> ranks; ///< by rank of the run

  void add(const MulticastStatistics& other);
};

class MulticastRecord : public RecordPart {
  std::map<std::pair<std::string, int>, MulticastStatistics> calls_; // by collective and communicator size
  std::vector<MulticastRankCall> rank_calls_;
  std::map<LinkId, double> on_link_; // payload bytes

public:
  void count(const std::string& collective, int communicator_size, const MulticastStatistics& call);
  /** Counts multicast payload on a link, without headers. */
  void count_on_link(LinkId link, Bytes payload) { on_link_[link] += payload.value(); }
  /** Adds a call; called only if events are kept. */
  void add_call(MulticastRankCall call) { rank_calls_.push_back(std::move(call)); }

  void add_rows(Json& record) const override;
  void add_events(Json& record) const override;
  std::string_view link_field() const override { return "multicast_bytes"; }
  double on_link(LinkId link) const override;
};

} // namespace weft
