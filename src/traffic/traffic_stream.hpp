// SPDX-License-Identifier: LGPL-2.1-only
/* Timed background traffic: messages of patterns or of a GOAL schedule, on the owner's network. */
#pragma once

#include "base/units.hpp"
#include "fabric/fabric.hpp"
#include "network/messages.hpp"
#include "traffic/goal_schedule.hpp"
#include "traffic/traffic_source.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/** One [[traffic]] table. */
struct TrafficTable {
  std::string name;
  std::string pattern; ///< as the user wrote it
  Seconds start;
  Seconds end{std::numeric_limits<double>::infinity()};
  double weight = 1; ///< its weight on links that are shared by job

  TrafficLoad load;    ///< for all patterns but GOAL, without the rate
  double share = 0;    ///< fraction of the bisection bandwidth
  int window   = 1;    ///< maximum number of messages of a sender in flight
  GoalSchedule goal;   ///< for GOAL
  bool repeat = false; ///< restarts the schedule when it has ended
};

/** Clock and network of background traffic. */
class TrafficNetwork {
public:
  TrafficNetwork()                                 = default;
  TrafficNetwork(const TrafficNetwork&)            = delete;
  TrafficNetwork& operator=(const TrafficNetwork&) = delete;
  virtual ~TrafficNetwork()                        = default;
  virtual Seconds now() const                      = 0;
  /** Returns whether all traffic has ended. */
  virtual bool ended() const = 0;
  /** Returns the size below which messages complete at their sender immediately. */
  virtual Bytes eager_below() const = 0;
  /** Calls due() of @p receiver with @p what after @p delay. */
  virtual void call_after(Seconds delay, Due& receiver, std::uint64_t what) = 0;
  /** Sends a message between two hosts as traffic of @p job, with the costs of the network alone. */
  virtual void send(int job, VertexId from, VertexId to, Bytes bytes, BackgroundReceiver& receiver,
                    std::uint64_t number) = 0;
};

/** Counters of a table's messages so far. */
struct TrafficCounts {
  std::int64_t messages = 0; ///< messages that have arrived
  std::int64_t given_up = 0; ///< messages given up after a fault
  double bytes          = 0;
  double time_s         = 0; ///< time from the start of a message to its arrival, summed over all messages
  // For patterns:
  std::optional<BytesPerSecond> rate  = {}; ///< mean of each host
  std::optional<std::int64_t> waiting = {}; ///< messages queued at their hosts
  // For a schedule:
  std::optional<std::int64_t> rounds = {}; ///< number of completions
  std::string failure                = {}; ///< reason why the schedule failed

  /** Returns the mean time of a message in seconds. */
  double mean_s() const { return messages > 0 ? time_s / static_cast<double>(messages) : 0; }
};

/** Counters of a table, with the table's settings. */
struct TrafficReport {
  std::string name;
  std::string pattern;
  std::size_t hosts;
  TrafficCounts counts;
};

/** Messages of a table. */
class TrafficStream : public BackgroundReceiver {
protected:
  TrafficNetwork& network_;
  const TrafficTable table_;
  const int job_; // job number of the traffic
  TrafficCounts counts_;

  TrafficStream(TrafficNetwork& network, TrafficTable table, int job);
  void send(VertexId from, VertexId to, Bytes bytes, std::uint64_t number);
  void count_arrival(Bytes bytes, double since);
  bool is_over() const;

public:
  const TrafficTable& table() const { return table_; }
  /** Starts the messages; called at the start of the table. */
  virtual void begin() = 0;
  virtual TrafficCounts counts() const { return counts_; }
  TrafficReport report() const { return {table_.name, table_.pattern, table_.load.hosts.size(), counts()}; }
};

/** Returns a stream for each table, in order. @p network must outlive them. @p first_job: job number of the first
 * table; the numbers of later tables are consecutively lower. */
std::vector<std::unique_ptr<TrafficStream>> make_traffic(std::vector<TrafficTable> tables, const Fabric& fabric,
                                                         TrafficNetwork& network, int first_job);

} // namespace weft
