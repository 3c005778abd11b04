// SPDX-License-Identifier: LGPL-2.1-only
/* What the record says of multicast calls: what ranks have seen of them, and what they have put on links. */
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

/** How long a rank spends in the phases of multicast calls, in simulated seconds. */
struct MulticastTimes {
  double barrier   = 0;
  double multicast = 0;
  double recovery  = 0;
  double handshake = 0;
};

/** Chunks that did not reach a rank. */
struct MulticastDrops {
  std::int64_t all     = 0;
  std::int64_t staging = 0; ///< of those, for which a staging ring had no room
  std::int64_t port    = 0; ///< of those, for which a switch had no room
};

/** What a rank has seen of multicast calls. */
struct MulticastRank {
  MulticastDrops drops;
  MulticastCounts counts;
  MulticastTimes times;

  void add(const MulticastRank& other);
};

/** One rank's multicast call, whose phases follow one another. */
struct MulticastRankCall {
  int rank; ///< of the run
  int communicator;
  std::string collective;
  double start;
  MulticastRank seen;
};

/** The multicast calls of one collective on communicators of one size. */
struct MulticastStatistics {
  std::int64_t calls      = 0;
  std::int64_t multicasts = 0; ///< roots' blocks
  std::int64_t chunks     = 0; ///< of those, each counted once whatever the number of receivers
  double payload          = 0; ///< bytes of those
  double headers          = 0; ///< bytes of their packets' headers
  double fetched_bytes    = 0;
  std::map<int, MulticastRank> ranks; ///< of the run

  void add(const MulticastStatistics& other);
};

class MulticastRecord : public RecordPart {
  std::map<std::pair<std::string, int>, MulticastStatistics> calls_; // by collective and communicator size
  std::vector<MulticastRankCall> rank_calls_;
  std::map<LinkId, double> on_link_; // payload bytes

public:
  void count(const std::string& collective, int communicator_size, const MulticastStatistics& call);
  /** Count what multicasts put on a link, without headers. */
  void count_on_link(LinkId link, Bytes payload) { on_link_[link] += payload.value(); }
  /** Where events are kept. */
  void add_call(MulticastRankCall call) { rank_calls_.push_back(std::move(call)); }

  void add_rows(Json& record) const override;
  void add_events(Json& record) const override;
  std::string_view link_field() const override { return "multicast_bytes"; }
  double on_link(LinkId link) const override;
};

} // namespace weft
