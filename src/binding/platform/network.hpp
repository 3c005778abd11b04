// SPDX-License-Identifier: LGPL-2.1-only
/* Interface of a run to the simulated network, which a fabric file (FabricZone) or a SimGrid
 * platform (PlatformNetwork) describes. */
#pragma once

#include "binding/platform/stream_zone.hpp"
#include "collective/in_network/stream.hpp"
#include "fabric/forwarding_state.hpp"

#include <simgrid/s4u.hpp>

#include <optional>
#include <vector>

namespace weft {

class Network {
public:
  virtual ~Network() = default;

  /** Starts a flow of a stream in SimGrid; @p done runs in SimGrid's kernel context when it has
   * ended. The stream gets the bandwidth share of point-to-point messages with latency @p sharing. */
  void start_flow(const StreamFlow& flow, Seconds base_latency, Seconds sharing, FlowEnd done);

  /** Starts a message in SimGrid between two vertices, of which only @p part is sent; @p done runs in SimGrid's kernel
   * context when it has ended. */
  void transfer(VertexId from, VertexId to, Bytes bytes, FlowEnd done, double part = 1);

  virtual StreamZone& streams() = 0;
  /** Appends the SimGrid links that make up one link of the fabric. Call it only in SimGrid's
   * kernel context, since it may create them. */
  virtual void append_links(LinkId id, std::vector<simgrid::s4u::Link*>& into) = 0;
  /** Returns the load of a link in bytes per second. */
  virtual double use_of(LinkId id);
  /** Returns whether ranks can run on @p host. */
  virtual bool is_host(const simgrid::s4u::Host* host) const       = 0;
  virtual VertexId vertex_of(const simgrid::s4u::Host* host) const = 0;
  /** Returns the host at @p vertex; null if SimGrid has none because no rank is placed there. */
  virtual simgrid::s4u::Host* host_at(VertexId vertex) const = 0;
  /** Returns the host at @p vertex, created with @p cores if SimGrid has none. Call it only in SimGrid's kernel
   * context. */
  virtual simgrid::s4u::Host* make_host_at(VertexId vertex, int /*cores*/) { return host_at(vertex); }
  /** Returns the host at @p vertex, or the pseudo-host of a switch. Call it only in SimGrid's kernel
   * context, since it may create pseudo-hosts. */
  virtual simgrid::s4u::Host* endpoint(VertexId vertex) = 0;
  /** Returns the bytes that have begun to cross a link; 0 if the network does not count them. */
  virtual double bytes_on_link(LinkId id) const = 0;
  /** Returns the counters of a switch's forwarding caches; nothing if it has none. */
  virtual std::optional<LookupCounters> lookups(int /*switch_index*/) const { return std::nullopt; }
  /** Counts bytes that begin to cross a link. */
  virtual void count_bytes(LinkId id, Bytes bytes) = 0;
};

} // namespace weft
