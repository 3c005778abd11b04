// SPDX-License-Identifier: LGPL-2.1-only
/* Test support: a network without other traffic, on which rate limits of flows and bandwidths of links apply. */
#pragma once

#include "collective/in_network/call_carrier.hpp"
#include "fabric/fabric.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

namespace weft {

class QuietCarrier : public CallCarrier, Due {
  struct Flow {
    double start;
    double transfer; // seconds on the network, after the latency
    double latency;
    FlowEnd done;
  };
  const Fabric& fabric_;
  std::map<std::uint64_t, Flow> flows_;
  std::uint64_t next_ = 0;

  std::uint64_t begin(Seconds latency, Seconds transfer, FlowEnd done)
  {
    flows_[next_] = {agenda.now().value(), transfer.value(), latency.value(), std::move(done)};
    call_after(latency + transfer, *this, next_);
    return next_++;
  }
  void due(std::uint64_t number) override
  {
    const auto found = flows_.find(number);
    if (found == flows_.end()) // cancelled
      return;
    const FlowEnd done = std::move(found->second.done);
    flows_.erase(found);
    done({});
  }

public:
  Agenda agenda;

  explicit QuietCarrier(const Fabric& fabric) : fabric_(fabric) {}

  Seconds now() const override { return agenda.now(); }
  void call_after(Seconds delay, Due& receiver, std::uint64_t what) override
  {
    agenda.add(agenda.now() + delay, receiver, what);
  }
  void start_flow(const StreamFlow& flow, Seconds latency, Seconds /*sharing*/, int /*world*/, FlowEnd done) override
  {
    begin(latency, flow.wire / flow.rate_limit, std::move(done));
  }
  std::uint64_t start_breakable_flow(const StreamFlow& flow, Seconds latency, Seconds /*sharing*/, int /*world*/,
                                     FlowEnd done) override
  {
    return begin(latency, flow.wire / flow.rate_limit, std::move(done));
  }
  double cancel_flow(std::uint64_t number) override
  {
    const Flow flow = std::move(flows_.at(number));
    flows_.erase(number);
    const double on_network = std::max(agenda.now().value() - flow.start - flow.latency, 0.);
    return 1 - on_network / flow.transfer;
  }
  void transfer(VertexId from, VertexId to, Bytes bytes, int /*world*/, FlowEnd done) override
  {
    const auto is_it = [&](const Link& link) { return link.from == from && link.to == to; };
    const auto found = std::ranges::find_if(fabric_.links(), is_it);
    ASSERT_NE(found, fabric_.links().end());
    begin(found->latency, bytes / found->bandwidth, std::move(done));
  }

  void run_until(double time) { agenda.run_until(Seconds(time)); }
  void run()
  {
    while (agenda.next().value() < std::numeric_limits<double>::infinity())
      agenda.run_until(agenda.next());
  }
};

} // namespace weft
