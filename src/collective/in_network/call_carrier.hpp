// SPDX-License-Identifier: LGPL-2.1-only
/* Requirements of offloaded calls on whoever runs them: time, and a network that carries flows and messages. */
#pragma once

#include "collective/in_network/stream.hpp"
#include "network/agenda.hpp"
#include "network/flow_result.hpp"

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
  /** Calls due() of @p receiver with @p what after @p delay, behind all events of that instant which were scheduled
   * before. */
  virtual void call_after(Seconds delay, Due& receiver, std::uint64_t what) = 0;
  /** Starts a flow of the job with this @p world, with the bandwidth share of point-to-point messages with latency @p
   * sharing. @p done runs when the flow has ended. */
  virtual void start_flow(const StreamFlow& flow, Seconds latency, Seconds sharing, int world, FlowEnd done) = 0;
  /** Starts a flow that ends when a fault cuts it (FlowResult::left). Returns its number, for cancel_flow(). Only
   * carriers with faults have such flows. */
  virtual std::uint64_t start_breakable_flow(const StreamFlow& flow, Seconds latency, Seconds sharing, int world,
                                             FlowEnd done) = 0;
  /** Ends a breakable flow, without its callback. Returns the part of it that has not arrived. */
  virtual double cancel_flow(std::uint64_t number) = 0;
  /** Sends a message of the job with this @p world between two vertices. Between hosts it is like those of ranks; from
   * or to a switch, no cost of MPI applies, and it may be empty. @p done runs when it has ended. */
  virtual void transfer(VertexId from, VertexId to, Bytes bytes, int world, FlowEnd done) = 0;
};

} // namespace weft
