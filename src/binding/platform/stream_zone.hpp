// SPDX-License-Identifier: LGPL-2.1-only
/* Zone of streams. A stream is a SimGrid flow over any links, such as those that one tree switch owns,
 * in both directions at once.
 *
 * Each stream is an ordinary SimGrid communication between two endpoints, which are all that this
 * zone contains. While the stream lasts, the route between them is that list of links, so the
 * solver shares the links exactly with all other traffic. A link listed k times is charged k times.
 *
 * SimGrid's solver weights a flow by the inverse of its route's latency. A stream must compete as
 * the point-to-point messages over the same links do, so its route reports their latency, and
 * latency_factor() converts that to the stream's own base latency. If SimGrid's own factors apply
 * to all flows, the zone divides them out of a stream's values instead, and the stream competes by
 * its own latency. */
#pragma once

#include "base/units.hpp"
#include "binding/platform/flow_result.hpp"

#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/** Parameters of a stream. */
struct StreamRequest {
  std::vector<simgrid::s4u::Link*> links; ///< a link that k messages cross is listed k times
  Seconds base_latency;
  Seconds sharing_latency; ///< latency of point-to-point messages whose bandwidth share it gets
  Bytes wire;
  BytesPerSecond rate_limit;
  bool exact = false; ///< wire may be a fraction of a byte
};

/** Factors by which a network model multiplies latency and bandwidth of flows by size: SimGrid's
 * options network/latency-factor and network/bandwidth-factor. */
struct FlowFactors {
  /** Lower bound of sizes, exclusive, and the factor above it. */
  using Boundary = std::pair<double, double>;
  std::vector<Boundary> latency;
  std::vector<Boundary> bandwidth;

  /** Reads the engine's options. */
  static FlowFactors from_options();
  static double at(const std::vector<Boundary>& factors, double size);
};

class StreamZone : public simgrid::kernel::routing::NetZoneImpl {
  struct Stream;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<Stream*> idle_;
  std::optional<FlowFactors> factors_;
  simgrid::s4u::Link* backwards_ = nullptr; // route back: without resources, since streams have no acknowledgements

  Stream& borrow();
  void divide_out_factors(StreamRequest& request) const;
  void begin(const StreamRequest& request, FlowEnd done);
  const Stream& stream_of(unsigned long net_point) const { return *streams_.at(net_point / 2); }

public:
  /** Adds the zone to the root zone. The engine owns it. */
  static StreamZone* create();
  /** Declares that from now on the network model applies @p factors to streams as to all other flows. */
  void expect_factors(FlowFactors factors) { factors_ = std::move(factors); }
  explicit StreamZone(const std::string& name);
  ~StreamZone() override;

  void get_local_route(const simgrid::kernel::routing::NetPoint* from, const simgrid::kernel::routing::NetPoint* to,
                       simgrid::kernel::routing::Route* into, double* latency) override;

  /** Starts a stream; @p done runs in SimGrid's kernel context when it has ended. */
  void start(const StreamRequest& request, FlowEnd done);

  /** Returns the factor for the route's latency if @p from is an endpoint of a stream; nothing
   * otherwise. */
  std::optional<double> latency_factor(const simgrid::s4u::Host* from) const;
};

} // namespace weft
