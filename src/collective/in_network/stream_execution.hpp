// SPDX-License-Identifier: LGPL-2.1-only
/* Execution of a call as streams: the flows of all switches of its trees start together, and the last one to end
 * completes the call. In runs with faults, a flow may be cut, and a lost packet at the end of a stream delays the call
 * by the timeouts before its retransmission. */
#pragma once

#include "collective/in_network/stream.hpp"
#include "collective/in_network/tree_service.hpp"
#include "network/link_losses.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weft {

/** Call that is executed as streams. */
class StreamOwner {
public:
  StreamOwner()                              = default;
  StreamOwner(const StreamOwner&)            = delete;
  StreamOwner& operator=(const StreamOwner&) = delete;
  virtual ~StreamOwner()                     = default;

  virtual std::string collective() const = 0;
  /** Returns the callback for a flow's end: it runs @p next if the flow has arrived, and keeps the owner alive until
   * then. */
  virtual FlowEnd when_arrived(std::function<void()> next) = 0;
  /** Returns a reference that keeps the owner alive. */
  virtual std::shared_ptr<void> keep() = 0;
  /** Called when all flows have arrived and the switches have executed the call. */
  virtual void stream_ended() = 0;
};

class StreamExecution : Due {
public:
  /** Part of a call over one tree. */
  struct Share {
    const ReductionTree* tree; ///< kept alive by the owner
    std::shared_ptr<const StreamPlan> plan;
    Seconds latency;      ///< latency of its flows: the plan's base latency, with jitter
    double passed_on = 0; ///< fraction of the packets that find no free slot
  };

private:
  static constexpr std::uint64_t ENDED = ~std::uint64_t{0}; // number of a flow

  const TreeService& service_;
  StreamOwner& owner_;
  const TreeCall& call_;
  std::vector<Share> shares_; // by tree
  Seconds start_;             // start time of the call
  double part_ = 1;           // fraction of the call that the flows carry
  int flows_   = 0;           // number of unfinished flows

  // Only in runs with faults:
  std::vector<std::uint64_t> numbers_; // numbers of the flows, for cancellation; ENDED
  std::uint64_t attempt_ = 0;          // number of stops
  std::shared_ptr<void> kept_;         // the owner, while the last packets are awaited
  int events_ = 0;                     // number of entries in the agenda

  Bytes vector() const;
  void start_share(std::size_t number);
  FlowEnd end_of_flow();
  void start_breakable(StreamFlow flow, const Share& share);
  void await_last_packets();
  int transmissions() const;
  void finish();
  void due(std::uint64_t attempt) override;

public:
  /** @p service, @p owner and @p call must outlive the execution. */
  StreamExecution(const TreeService& service, StreamOwner& owner, const TreeCall& call)
      : service_(service), owner_(owner), call_(call)
  {
  }

  /** Starts the flows for the fraction @p part of the call, which began at @p start. */
  void start(std::vector<Share> shares, double part, Seconds start);
  /** Stops the flows after a fault. Returns the fraction that has not arrived, at least @p left. */
  double stop(double left);
  /** Returns whether a switch belongs to one of the trees. */
  bool uses(int device) const;
  /** Returns the fraction of the call after its last complete window, if @p left has not arrived. */
  double rest(double left) const;
};

/** Returns the probability that a packet is lost on some link of @p tree, up or down. */
double loss_probability(const ReductionTree& tree, const LinkLosses& losses);
/** Returns the mean time that the packets of a slot wait for retransmissions. */
Seconds mean_stall(const ReductionTree& tree, const CallRecovery& recovery);

} // namespace weft
