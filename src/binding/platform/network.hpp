// SPDX-License-Identifier: LGPL-2.1-only
/* What a run needs of the simulated network, whoever described it: a fabric file (FabricZone) or a platform of
 * SimGrid's (PlatformNetwork). */
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

  /** Start a flow of a stream; @p done runs in SimGrid's kernel context when it has ended. @p sharing: the latency of
   *  the point-to-point messages that it competes as. */
  void start_flow(const StreamFlow& flow, Seconds base_latency, Seconds sharing, FlowEnd done);

  virtual StreamZone& streams() = 0;
  /** Append SimGrid's links that make up one link of the fabric. In SimGrid's kernel context alone: it may make them.
   */
  virtual void append_links(LinkId id, std::vector<simgrid::s4u::Link*>& into) = 0;
  /** How much of a link is in use, in bytes a second. */
  virtual double use_of(LinkId id);
  /** The host on which a switch's actors run. */
  virtual simgrid::s4u::Host* switch_host(int index) = 0;
  /** Whether ranks can run on it. */
  virtual bool is_host(const simgrid::s4u::Host* host) const       = 0;
  virtual VertexId vertex_of(const simgrid::s4u::Host* host) const = 0;
  /** The other way round; null where SimGrid has no such host, because no rank is placed there. */
  virtual simgrid::s4u::Host* host_at(VertexId vertex) const = 0;
  /** Bytes that have begun to cross a link; nothing where the network does not count them. */
  virtual std::optional<double> bytes_on_link(LinkId id) const = 0;
  /** What the forwarding caches of a switch did; nothing where it has none. */
  virtual std::optional<LookupCounters> lookups(int /*switch_index*/) const { return std::nullopt; }

protected:
  virtual void count_bytes(LinkId id, Bytes bytes) = 0;
};

} // namespace weft
