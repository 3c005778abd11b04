// SPDX-License-Identifier: LGPL-2.1-only
/* The zone of the streams.
 *
 * A stream is the flow of an in-network collective over all links that one tree switch owns, both directions at once.
 * It is an ordinary SimGrid communication between two end points, which are all that this zone holds, whose route is
 * that list of links while the stream lasts; so the solver shares the links exactly with all other traffic. A link
 * listed k times is charged k-fold.
 *
 * SimGrid's solver weighs a flow by one over its route's latency. So that a stream competes as the point-to-point
 * messages over the same links do, its route reports their latency, and latency_factor() turns it into the stream's own
 * base latency. Where SimGrid's own factors hold for all flows, the zone divides them out of a stream's instead, and
 * the stream competes by its own latency.
 */
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

/** What a stream needs to know to start. */
struct StreamRequest {
  std::vector<simgrid::s4u::Link*> links; ///< with repetitions: a link that k messages cross stands there k times
  Seconds base_latency;
  Seconds sharing_latency; ///< of the point-to-point messages that it competes as
  Bytes wire;
  BytesPerSecond rate_limit;
  bool exact = false; ///< wire need not be whole bytes
};

/** The factors by which a network model multiplies latency and bandwidth of every flow of some size: SimGrid's options
 *  network/latency-factor and network/bandwidth-factor. */
struct FlowFactors {
  /** One boundary: the factor holds for sizes above it. */
  using Boundary = std::pair<double, double>;
  std::vector<Boundary> latency;
  std::vector<Boundary> bandwidth;

  /** Read the engine's options. */
  static FlowFactors from_options();
  static double at(const std::vector<Boundary>& factors, double size);
};

class StreamZone : public simgrid::kernel::routing::NetZoneImpl {
  struct Stream;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<Stream*> idle_;
  std::optional<FlowFactors> factors_;
  std::function<void(const StreamRequest&)> on_start_;
  simgrid::s4u::Link* backwards_ = nullptr; // the way of acknowledgements, which streams do not have

  Stream& borrow();
  void divide_out_factors(StreamRequest& request) const;
  void begin(const StreamRequest& request, FlowEnd done);
  const Stream& stream_of(unsigned long net_point) const { return *streams_.at(net_point / 2); }

public:
  /** Add the zone to the root zone. The engine owns it. */
  static StreamZone* create();
  /** From now on the network model multiplies streams by @p factors, as all flows. */
  void expect_factors(FlowFactors factors) { factors_ = std::move(factors); }
  /** Tell of each stream that starts, before it does. */
  void on_start(std::function<void(const StreamRequest&)> told) { on_start_ = std::move(told); }
  explicit StreamZone(const std::string& name);
  ~StreamZone() override;

  void get_local_route(const simgrid::kernel::routing::NetPoint* from, const simgrid::kernel::routing::NetPoint* to,
                       simgrid::kernel::routing::Route* into, double* latency) override;

  /** Start a stream; @p done runs in SimGrid's kernel context when it has ended. */
  void start(const StreamRequest& request, FlowEnd done);

  /** What the route's latency is to be multiplied with, where @p from is an end point of a stream. */
  std::optional<double> latency_factor(const simgrid::s4u::Host* from) const;
};

} // namespace weft
