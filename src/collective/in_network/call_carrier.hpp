// SPDX-License-Identifier: LGPL-2.1-only
/* Interface between offloaded calls and their caller, which supplies a clock and a network for flows and messages. */
#pragma once

#include "collective/in_network/stream.hpp"
#include "network/agenda.hpp"
#include "network/flow_result.hpp"
#include "network/tree_packets.hpp"

#include <cstdint>

namespace weft {

class CallCarrier {
public:
  CallCarrier()                              = default;
  CallCarrier(const CallCarrier&)            = delete;
  CallCarrier& operator=(const CallCarrier&) = delete;
  virtual ~CallCarrier()                     = default;

  /** Returns the simulated time. */
  virtual Seconds now() const = 0;
  /** Calls due() of @p receiver with @p what after @p delay, after all events already scheduled for that instant. */
  virtual void call_after(Seconds delay, Due& receiver, std::uint64_t what) = 0;
  /** Starts a timer that can be cancelled: calls due() of @p receiver with @p what after @p delay, behind the events of
   * that instant. Timers of one instant have no order. Returns its number, for cancel_timer(). */
  virtual std::uint64_t start_timer(Seconds delay, Due& receiver, std::uint64_t what) = 0;
  virtual void cancel_timer(std::uint64_t number)                                     = 0;
  /** Returns the network that carries streams as packets; null if they are flows. */
  virtual TreeNetwork* trees() { return nullptr; }
  /** Starts a flow for the job of @p world. Its bandwidth share is that of a point-to-point message whose route has
   * latency @p sharing. Calls @p done when the flow completes. */
  virtual void start_flow(const StreamFlow& flow, Seconds latency, Seconds sharing, int world, FlowEnd done) = 0;
  /** Starts a flow that ends when a fault cuts it (FlowResult::left). Returns its number, for cancel_flow(). Only
   * carriers that simulate faults support such flows. */
  virtual std::uint64_t start_breakable_flow(const StreamFlow& flow, Seconds latency, Seconds sharing, int world,
                                             FlowEnd done) = 0;
  /** Returns the fraction of a breakable flow that has not arrived. */
  virtual double left_of_flow(std::uint64_t number) = 0;
  /** Ends a breakable flow without its callback. Returns the fraction of it that has not arrived. */
  virtual double cancel_flow(std::uint64_t number) = 0;
  /** Returns the load of a link in bytes per second. */
  virtual double use_of(LinkId link) = 0;
  /** Sends a message of the job of @p world between two vertices. Between hosts it is like a message between ranks;
   * from or to a switch, no MPI costs apply, and it may be empty. Calls @p done when it has ended. */
  virtual void transfer(VertexId from, VertexId to, Bytes bytes, int world, FlowEnd done) = 0;
};

} // namespace weft
