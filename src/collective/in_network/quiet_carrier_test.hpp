// SPDX-License-Identifier: LGPL-2.1-only
/* Test support: a network without other traffic, on which rate limits of flows and bandwidths of links apply. */
#pragma once

#include "collective/in_network/call_carrier.hpp"
#include "fabric/fabric_state.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace weft {

class QuietCarrier : public CallCarrier, Due {
  struct Flow {
    double start;
    double transfer; // seconds on the network, after the latency
    double latency;
    FlowEnd done;
    LinkId link = -1; // of a breakable flow
  };
  struct Timers : Due {
    std::map<std::uint64_t, std::pair<Due*, std::uint64_t>> running;
    void due(std::uint64_t number) override
    {
      if (const auto timer = running.extract(number)) // otherwise it was cancelled
        timer.mapped().first->due(timer.mapped().second);
    }
  };
  const Fabric& fabric_;
  const FabricState state_;
  Timers timers_;
  std::uint64_t next_timer_ = 0;
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
  TreeNetwork* packets = nullptr;

  explicit QuietCarrier(const Fabric& fabric) : fabric_(fabric), state_(fabric) {}

  Seconds now() const override { return agenda.now(); }
  TreeNetwork* trees() override { return packets; }
  void call_after(Seconds delay, Due& receiver, std::uint64_t what) override
  {
    agenda.add(agenda.now() + delay, receiver, what);
  }
  std::uint64_t start_timer(Seconds delay, Due& receiver, std::uint64_t what) override
  {
    timers_.running[next_timer_] = {&receiver, what};
    call_after(delay, timers_, next_timer_);
    return next_timer_++;
  }
  void cancel_timer(std::uint64_t number) override { timers_.running.erase(number); }
  void start_flow(const StreamFlow& flow, Seconds latency, Seconds /*sharing*/, int /*world*/, FlowEnd done) override
  {
    begin(latency, flow.wire / flow.rate_limit, std::move(done));
  }
  std::uint64_t start_breakable_flow(const StreamFlow& flow, Seconds latency, Seconds /*sharing*/, int /*world*/,
                                     FlowEnd done) override
  {
    const std::uint64_t number = begin(latency, flow.wire / flow.rate_limit, std::move(done));
    flows_.at(number).link     = flow.links.front().link;
    return number;
  }
  double left_of_flow(std::uint64_t number) override
  {
    const Flow& flow        = flows_.at(number);
    const double on_network = std::max(agenda.now().value() - flow.start - flow.latency, 0.);
    return 1 - on_network / flow.transfer;
  }
  double cancel_flow(std::uint64_t number) override
  {
    const double left = left_of_flow(number);
    flows_.erase(number);
    return left;
  }
  double use_of(LinkId /*link*/) override { return 0; }
  void transfer(VertexId from, VertexId to, Bytes bytes, int /*world*/, FlowEnd done) override
  {
    Route way;
    ASSERT_TRUE(state_.route(from, to, way));
    BytesPerSecond narrowest(std::numeric_limits<double>::infinity());
    for (const LinkId link : way.links)
      narrowest = std::min(narrowest, fabric_.link(link).bandwidth);
    begin(fabric_.latency(way), bytes / narrowest, std::move(done));
  }

  /** Cuts the breakable flows whose first link is @p link. */
  void cut(LinkId link)
  {
    std::vector<std::uint64_t> numbers;
    for (const auto& [number, flow] : flows_)
      if (flow.link == link)
        numbers.push_back(number);
    for (const std::uint64_t number : numbers) {
      const FlowEnd done = flows_.at(number).done;
      done({"the link is off", cancel_flow(number)});
    }
  }
  void run_until(double time) { agenda.run_until(Seconds(time)); }
  void run()
  {
    while (agenda.next().value() < std::numeric_limits<double>::infinity())
      agenda.run_until(agenda.next());
  }
};

} // namespace weft
