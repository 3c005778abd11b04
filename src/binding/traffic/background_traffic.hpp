// SPDX-License-Identifier: LGPL-2.1-only
/* Background traffic of a run: messages between hosts, in weft's network, that no rank sends or waits for. It ends with
 * the last rank, and when no rank can wake any more. */
#pragma once

#include "binding/messages/host_network.hpp"
#include "binding/observe/record_part.hpp"
#include "binding/traffic/traffic_file.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weft {

class RunContext;
class BackgroundTraffic;

/** Messages of a table [[traffic]]. */
class TrafficStream : public BackgroundReceiver {
protected:
  BackgroundTraffic& all_;
  const TrafficTable table_;
  const int job_;             // number as traffic of a job
  std::int64_t messages_ = 0; // that have arrived
  std::int64_t given_up_ = 0; // after a fault
  double bytes_          = 0;
  double time_           = 0; // from the start of a message to its arrival, over all messages

  TrafficStream(BackgroundTraffic& all, TrafficTable table);
  void count_arrival(Bytes bytes, double since);
  void count_failure() { ++given_up_; }
  bool is_over() const;

public:
  const TrafficTable& table() const { return table_; }
  virtual void begin() = 0;
  virtual Json row() const;
};

class BackgroundTraffic : public RecordPart, public BackgroundReceiver {
  RunContext& context_;
  std::vector<std::unique_ptr<TrafficStream>> streams_;
  bool ended_         = false;
  std::uint64_t made_ = 0;     // messages
  bool was_idle_      = false; // at the last look

  void begin();
  bool nothing_else_happens() const;
  void look();

public:
  explicit BackgroundTraffic(RunContext& context);
  /** Adds the traffic of the settings to a run on weft's network, if there is any. Throws UserError. */
  static void serve(RunContext& context);

  HostNetwork& network();
  bool ended() const { return ended_; }
  void end();
  /** Returns the number, as traffic of a job, of the next stream. */
  int next_job() const { return JobTraffic::NONE - static_cast<int>(streams_.size()); }
  /** Sends a message between two hosts as traffic of @p job, with the costs of the network alone. */
  void send(int job, VertexId from, VertexId to, Bytes bytes, BackgroundReceiver& receiver, std::uint64_t number);
  void due(std::uint64_t stream) override { streams_[stream]->begin(); }
  void arrived(std::uint64_t /*message*/) override {}
  void add_rows(Json& record) const override;
};

} // namespace weft
