// SPDX-License-Identifier: LGPL-2.1-only
/* Run-time state of a smart switch: channels held by communicators, and counters. */
#pragma once

#include "model/switch/switch_model.hpp"

#include <cstdint>
#include <map>
#include <set>

namespace weft {

/** Counters of a switch. Only offloaded calls change them (Belbeisi et al., section 5). */
struct SwitchCounters {
  std::int64_t offloaded         = 0; ///< collectives executed
  std::int64_t packets_reduced   = 0; ///< results computed, one per packet of the message
  std::int64_t packets_passed_on = 0; ///< packets of messages that found no free slot: a host computed their results
  double bytes_reduced           = 0; ///< payload of the contributions
  double bytes_multicast         = 0; ///< payload sent down, over all copies
  std::int64_t slots_used_max    = 0; ///< maximum of slots held by all collectives in flight
  std::int64_t channels_used_max = 0;
};

/** Outcome of a request for a channel. */
enum class ChannelGrant : std::uint8_t {
  granted,
  all_taken,
  over_quota, ///< the job already holds its maximum
  locked,     ///< another job has exclusive use of the switch
  reserved,   ///< other jobs have reserved all channels
};

class Aggregation {
  const SwitchModel& model_;
  SwitchCounters counters_;
  std::map<int, int> channels_; ///< communicators that hold a channel, with their jobs
  std::set<int> reservations_;  ///< jobs with reserved channels
  std::map<int, int> locked_;   ///< job by link number, for links on which a job has streamed
  double slots_in_use_ = 0;
  int in_flight_       = 0; ///< collectives

public:
  explicit Aggregation(const SwitchModel& model) : model_(model) {}

  /** Returns whether @p communicator of @p job holds or could get a channel, and otherwise the reason. */
  ChannelGrant channel_for(int communicator, int job) const;
  /** Allocates a channel to @p communicator of @p job unless it holds one. Returns false if none is available. */
  bool acquire_channel(int communicator, int job);
  /** Frees the channel of @p communicator, if it has one. */
  void release_channel(int communicator);
  /** Ends the reservation and the locks of @p job. */
  void release_job(int job);

  /** Returns true if @p job may stream over the link number @p link, which another job may have locked. */
  bool may_stream(int job, int link) const;
  /** Locks a link for @p job, if streaming locks links on this switch. */
  void lock(int job, int link);

  /** Returns the probability that a packet's slot is taken, if packets hash to one pool of slots. */
  double taken() const;

  /** Begin and end a collective that reduces vectors of @p vector bytes (zero if it only copies). A fraction @p
   * passed_on finds no free slot. The end counts the payload reduced and sent down. */
  void begin(Bytes vector, double passed_on = 0);
  void end(Bytes vector, Bytes reduced, Bytes multicast, double passed_on = 0);
  /** Ends a collective that a fault has stopped, without counting it. */
  void abandon(Bytes vector, double passed_on = 0);

  const SwitchModel& model() const { return model_; }
  const SwitchCounters& counters() const { return counters_; }
};

} // namespace weft
