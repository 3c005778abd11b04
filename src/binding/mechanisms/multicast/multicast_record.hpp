// SPDX-License-Identifier: LGPL-2.1-only
/* Multicast calls in the record: what ranks observed, and the traffic on links. */
#pragma once

#include "binding/observe/record_part.hpp"
#include "collective/multicast/execution/statistics.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

/** One rank's multicast call, whose phases are consecutive. */
struct MulticastRankCall {
  int rank; ///< in the run
  int communicator;
  std::string collective;
  double start;
  MulticastRank seen;
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
