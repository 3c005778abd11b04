// SPDX-License-Identifier: LGPL-2.1-only
/* A smart switch while a program runs: the channels that communicators hold, and what it has counted. */
#pragma once

#include "model/switch/switch_model.hpp"

#include <cstdint>
#include <set>

namespace weft {

/** What a switch has done; Belbeisi et al., section 5: offloaded calls move these, those that fall back never do. */
struct SwitchCounters {
  std::int64_t offloaded         = 0; ///< collectives executed
  std::int64_t packets_reduced   = 0; ///< results computed, one a packet of the message
  double bytes_reduced           = 0; ///< contributions added up, in payload bytes
  double bytes_multicast         = 0; ///< sent down, in payload bytes over all copies
  std::int64_t slots_used_max    = 0; ///< most slots that collectives in flight held together
  std::int64_t channels_used_max = 0;
};

class Aggregation {
  const SwitchModel& model_;
  SwitchCounters counters_;
  std::set<int> channels_; ///< the communicators that hold one
  std::int64_t slots_in_use_ = 0;

public:
  explicit Aggregation(const SwitchModel& model) : model_(model) {}

  /** Whether @p communicator holds a channel or could get one. */
  bool has_channel_for(int communicator) const;
  /** Give @p communicator a channel; false where all are taken. Asking again for one that it holds is fine. */
  bool acquire_channel(int communicator);
  /** Give the channel back; a communicator without one is fine. */
  void release_channel(int communicator);

  /** A collective begins that adds up vectors of @p vector bytes (none where it only copies), resp. has ended, with
   *  what the switch has taken in from below and sent down. */
  void begin(Bytes vector);
  void end(Bytes vector, Bytes reduced, Bytes multicast);

  const SwitchModel& model() const { return model_; }
  const SwitchCounters& counters() const { return counters_; }
};

} // namespace weft
