// SPDX-License-Identifier: LGPL-2.1-only
/* Effects of messages on a fabric, whoever carries them: bytes that cross links, forwarding caches, ports that look up
 * packets more slowly than their links carry them, and numbers by which jitter is drawn. */
#pragma once

#include "fabric/fabric.hpp"
#include "fabric/forwarding_state.hpp"
#include "model/noise/jitter.hpp"
#include "network/flow_network.hpp"

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft {

class FabricTraffic {
  const Fabric& fabric_;
  std::optional<ForwardingState> forwarding_; // if a switch has a cache or a port an interval
  bool has_caches_;
  bool ports_bound_;
  std::vector<double> bytes_;                // as Fabric::counted_as()
  std::optional<Jitter> jitter_;             // if links have jitter
  std::vector<std::uint32_t> messages_sent_; // by vertex, if links have jitter
  std::ofstream messages_;                   // open if messages are recorded

public:
  explicit FabricTraffic(const Fabric& fabric);
  FabricTraffic(const FabricTraffic&)            = delete;
  FabricTraffic& operator=(const FabricTraffic&) = delete;

  /** Writes the source and destination of every message between hosts to a file, as two ints, the numbers of the
   * hosts. */
  void record_messages(const std::string& file);
  /** Returns whether ports have an interval, so that they may limit messages. */
  bool ports_bound() const { return ports_bound_; }
  /** Returns whether the port of a link has one. */
  bool bounds(LinkId link) const { return ports_bound_ && forwarding_->bounds(link); }
  /** Returns whether switches have forwarding caches, so that equal messages may take different times. */
  bool has_caches() const { return has_caches_; }
  bool has_jitter() const { return jitter_.has_value(); }
  /** Returns whether equal messages may take different times, because of caches, intervals of ports or jitter. */
  bool varies() const { return forwarding_ || jitter_; }

  /** Starts a message between two vertices; returns what its route adds to its latency. */
  ForwardingState::Start start(const Route& route, VertexId from, VertexId to);
  /** Starts a message and counts its bytes. */
  ForwardingState::Start count(const Route& route, VertexId from, VertexId to, Bytes bytes);
  /** Counts another message that leaves at the same time on the same route. */
  void count_again(const FlowRoute& way, VertexId from, VertexId to, Bytes bytes);
  /** Announces that a started message uses its links, with @p volume on each, once its latency is over. */
  void begin(ForwardingState::MessageNumber message, Bytes bytes, Bytes volume, Seconds latency);
  void end(ForwardingState::MessageNumber message);
  /** Returns the delay that jitter on @p links adds to the next message from @p from. */
  Seconds next_jitter(std::span<const LinkId> links, VertexId from);
  /** Flushes forwarding caches, since routes are those of @p known from now on. Returns the links whose ports may limit
   * messages differently. */
  std::vector<LinkId> change_routes(const FabricState& known)
  {
    return forwarding_ ? forwarding_->change_routes(known) : std::vector<LinkId>();
  }
  /** Returns the current capacity of a resource: its bandwidth @p fixed, or less if the port at its end looks up
   * packets more slowly. */
  double capacity(int resource, double fixed);

  void count_bytes(LinkId id, Bytes bytes) { bytes_.at(static_cast<std::size_t>(id)) += bytes.value(); }
  double bytes_on_link(LinkId id) const
  {
    return fabric_.bytes_on_link(id, [this](int counted) { return bytes_.at(static_cast<std::size_t>(counted)); });
  }
  std::optional<LookupCounters> lookups(int switch_index) const
  {
    return forwarding_ ? forwarding_->counters(switch_index) : std::nullopt;
  }
};

} // namespace weft
