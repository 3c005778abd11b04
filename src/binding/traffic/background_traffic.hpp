// SPDX-License-Identifier: LGPL-2.1-only
/* Background traffic of a run: messages between hosts on weft's network that no rank sends or waits for. It ends with
 * the last rank, or when no rank can wake any more. */
#pragma once

#include "binding/messages/host_network.hpp"
#include "binding/observe/record_part.hpp"
#include "traffic/traffic_stream.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace weft {

class RunContext;

class BackgroundTraffic : public RecordPart, public BackgroundReceiver, public TrafficNetwork {
  RunContext& context_;
  std::vector<std::unique_ptr<TrafficStream>> streams_;
  bool ended_         = false;
  std::uint64_t made_ = 0;     // number of messages
  bool was_idle_      = false; // at the last check

  void begin();
  bool nothing_else_happens() const;
  void look();

public:
  explicit BackgroundTraffic(RunContext& context);
  /** Adds the traffic of the settings to a run on weft's network, if there is any. Throws UserError. */
  static void serve(RunContext& context);

  void end();
  Seconds now() const override;
  bool ended() const override { return ended_; }
  Bytes eager_below() const override;
  void call_after(Seconds delay, Due& receiver, std::uint64_t what) override;
  void send(int job, VertexId from, VertexId to, Bytes bytes, BackgroundReceiver& receiver,
            std::uint64_t number) override;
  void due(std::uint64_t stream) override { streams_[stream]->begin(); }
  void arrived(std::uint64_t /*message*/) override {}
  void add_rows(Json& record) const override;
};

} // namespace weft
