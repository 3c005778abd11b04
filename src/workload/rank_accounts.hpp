// SPDX-License-Identifier: LGPL-2.1-only
/* Time of a rank, by use. At each moment it computes, or else communicates, or else waits for others; the first
 * that holds counts, so that the parts add up to the whole. Communication beside computation is hidden: it counts in
 * the duration of its kind only.
 *
 * Kinds of communication are the divisions of the ranks into groups, then messages. */
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
  double exposed      = 0; ///< without computing
  double communicated = 0; ///< hidden or not
  std::size_t times   = 0; ///< that it has ended
};

/** Times of a rank in seconds. */
struct RankTimes {
  double computing = 0;             ///< on the GPU
  std::vector<double> exposed;      ///< communicating without computing, by kind
  std::vector<double> late;         ///< waiting for other ranks to begin a collective, or to send, by kind
  std::vector<double> communicated; ///< duration of all communication, hidden or not, by kind
  double idle = 0;                  ///< neither: on the CPU, or waiting for operations of other streams
  double end  = 0;                  ///< end of the last operation
  std::vector<double> exposed_at{}; ///< exposed communication that a link of a class limits, by class
  std::vector<double> carried_at{}; ///< of this, the time in which the limiting links carry what is communicated
};

/** Use of time: seconds, the mean over the ranks and the most of a rank. */
struct TimePart {
  std::string name; ///< "computation", "exposed KIND", "waiting KIND" or "idle"
  double mean;
  double most;
};

/** Returns the uses of time of an iteration that ended at @p end, without those of no rank. Their means add up to it:
 * ranks are idle from their own ends on. @p kinds: names of the kinds of communication. */
std::vector<TimePart> parts_of(std::span<const RankTimes> ranks, const std::vector<std::string>& kinds, double end);

class RankAccounts {
  std::uint32_t kinds_;
  using Active = std::pair<std::uint32_t, std::uint32_t>; // state, and of communication its index in traffic_
  std::vector<Active> active_;                            // states that hold now; the least counts
  double since_ = 0;
  RankTimes times_;
  std::vector<TrafficTime> traffic_;
  std::size_t last_ = 0; // index in traffic_ of the traffic that was looked up last

  std::uint32_t exposed(std::uint32_t kind) const { return 1 + kind; }
  std::uint32_t late(std::uint32_t kind) const { return 1 + kinds_ + kind; }
  void count_until(Seconds now);
  std::uint32_t index_of(std::uint32_t traffic);
  void begin(Active state, Seconds now);
  void end(Active state, Seconds now);

public:
  /** @p kinds: number of kinds of communication. @p start: when the rank begins. */
  explicit RankAccounts(std::uint32_t kinds, Seconds start = {});
  void begin_computation(Seconds now) { begin({0, 0}, now); }
  void end_computation(Seconds now) { end({0, 0}, now); }
  void begin_waiting(std::uint32_t kind, Seconds now) { begin({late(kind), 0}, now); }
  void end_waiting(std::uint32_t kind, Seconds now) { end({late(kind), 0}, now); }
  /** @p traffic: number of what is communicated. Of several of a kind at a time, the one that the rank has known
   * longest counts. */
  void begin_communication(std::uint32_t kind, std::uint32_t traffic, Seconds now)
  {
    begin({exposed(kind), index_of(traffic)}, now);
  }
  /** Ends communication that had begun at @p since. */
  void end_communication(std::uint32_t kind, std::uint32_t traffic, Seconds since, Seconds now);
  /** Ends the rank: it has nothing left to do. */
  void close(Seconds now);
  const RankTimes& times() const { return times_; }
  const std::vector<TrafficTime>& traffic() const { return traffic_; }
};

} // namespace weft
