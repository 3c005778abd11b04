// SPDX-License-Identifier: LGPL-2.1-only
/* Time of a rank, by use. At each moment a rank computes, communicates or waits for other ranks; the first of these
 * that applies counts, so the parts add up to the whole. Communication that overlaps computation is hidden: it only
 * counts in the duration of its kind.
 *
 * Kinds of communication are the divisions of the ranks into groups, followed by messages. */
#pragma once

#include "base/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/** Communication of a rank by a traffic (link_uses.hpp), in seconds. */
struct TrafficTime {
  std::uint32_t traffic;
  double exposed      = 0; ///< communicating without computing
  double communicated = 0; ///< hidden or not
  std::size_t times   = 0; ///< number of times that it has completed
};

/** Times of a rank in seconds. */
struct RankTimes {
  double computing = 0;             ///< on the GPU
  std::vector<double> exposed;      ///< communicating without computing, by kind
  std::vector<double> late;         ///< waiting for other ranks to begin a collective, or to send, by kind
  std::vector<double> communicated; ///< duration of all communication, hidden or not, by kind
  double idle = 0;                  ///< none of the above: on the CPU, or waiting for operations of other streams
  double end  = 0;                  ///< end of the last operation
  std::vector<double> exposed_at{}; ///< exposed communication limited by a link of the class, by class
  std::vector<double> carried_at{}; ///< part of exposed_at in which the limiting links carry its bytes
};

/** Use of time in seconds: the mean over the ranks and the maximum of a rank. */
struct TimePart {
  std::string name; ///< "computation", "exposed KIND", "waiting KIND" or "idle"
  double mean;
  double most;
};

/** Returns the uses of time of an iteration that ended at @p end, omitting those of no rank. Their means add up to @p
 * end: ranks are idle after they finish. @p kinds: names of the kinds of communication. */
std::vector<TimePart> parts_of(std::span<const RankTimes> ranks, const std::vector<std::string>& kinds, double end);

class RankAccounts {
  std::uint32_t kinds_;
  using Active = std::pair<std::uint32_t, std::uint32_t>; // state and, for communication, its index in traffic_
  std::vector<Active> active_;                            // states that currently apply; the lowest one counts
  double since_ = 0;
  RankTimes times_;
  std::vector<TrafficTime> traffic_;
  std::size_t last_ = 0; // index in traffic_ of the last lookup

  std::uint32_t exposed(std::uint32_t kind) const { return 1 + kind; }
  std::uint32_t late(std::uint32_t kind) const { return 1 + kinds_ + kind; }
  void count_until(Seconds now);
  std::uint32_t index_of(std::uint32_t traffic);
  void begin(Active state, Seconds now);
  void end(Active state, Seconds now);

public:
  /** @p kinds: number of kinds of communication. @p start: start time of the rank. */
  explicit RankAccounts(std::uint32_t kinds, Seconds start = {});
  void begin_computation(Seconds now) { begin({0, 0}, now); }
  void end_computation(Seconds now) { end({0, 0}, now); }
  void begin_waiting(std::uint32_t kind, Seconds now) { begin({late(kind), 0}, now); }
  void end_waiting(std::uint32_t kind, Seconds now) { end({late(kind), 0}, now); }
  /** @p traffic: number of the traffic. If several of a kind are active, the one that the rank has known longest
   * counts. */
  void begin_communication(std::uint32_t kind, std::uint32_t traffic, Seconds now)
  {
    begin({exposed(kind), index_of(traffic)}, now);
  }
  /** Ends communication that began at @p since. */
  void end_communication(std::uint32_t kind, std::uint32_t traffic, Seconds since, Seconds now);
  /** Closes the account of a rank that has finished. */
  void close(Seconds now);
  const RankTimes& times() const { return times_; }
  const std::vector<TrafficTime>& traffic() const { return traffic_; }
};

} // namespace weft
