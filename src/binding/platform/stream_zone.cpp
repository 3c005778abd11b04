// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/platform/stream_zone.hpp"

#include "binding/abi/kernel/activities.hpp"
#include "binding/abi/versions.hpp"
#include "network/flow_network.hpp"

#include <algorithm>
#include <cmath>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/simcall.hpp>
#include <sstream>
#include <utility>
#include <xbt/config.hpp>

namespace sg = simgrid::s4u;

namespace weft {
/** Two endpoints and the route between them for the stream in flight. */
struct StreamZone::Stream {
  sg::Host* from = nullptr;
  sg::Host* to   = nullptr;
  sg::Link* pace = nullptr; // limits the stream's rate: SimGrid ignores rates of host-to-host flows
  StreamRequest request;
  sg::CommPtr flow; // kept until the next use: SimGrid accesses it after signalling its end
};

StreamZone::StreamZone(const std::string& name) : NetZoneImpl(name) {}
StreamZone::~StreamZone() = default;

StreamZone* StreamZone::create()
{
  auto* zone = new StreamZone("weft.streams"); // deleted by SimGrid with the root zone
  zone->set_parent(sg::Engine::get_instance()->get_netzone_root()->get_impl());
  zone->backwards_ = zone->get_iface()->add_link("weft.streams.backwards", 1e18);
  return zone;
}

// Endpoints are created on first use: without a hostfile, ranks are placed on "all hosts".
StreamZone::Stream& StreamZone::borrow()
{
  if (idle_.empty()) {
    unseal_zone(*this);
    auto stream            = std::make_unique<Stream>();
    const std::string name = "weft.stream-" + std::to_string(streams_.size());
    stream->from           = get_iface()->add_host(name + ".from", 1.0)->seal();
    stream->to             = get_iface()->add_host(name + ".to", 1.0)->seal();
    stream->pace           = get_iface()->add_link(name + ".pace", 1.0)->seal();
    idle_.push_back(stream.get());
    streams_.push_back(std::move(stream));
  }
  Stream* stream = idle_.back();
  idle_.pop_back();
  return *stream;
}

void StreamZone::get_local_route(const simgrid::kernel::routing::NetPoint* from,
                                 const simgrid::kernel::routing::NetPoint* /*to*/,
                                 simgrid::kernel::routing::Route* into, double* latency)
{
  const Stream& stream = stream_of(from->id());
  if (from != stream.from->get_netpoint()) {
    into->link_list_.push_back(backwards_->get_impl());
    return;
  }
  into->link_list_.push_back(stream.pace->get_impl());
  for (const sg::Link* link : stream.request.links)
    into->link_list_.push_back(link->get_impl());
  if (latency)
    *latency += stream.request.sharing_latency.value();
}

std::optional<double> StreamZone::latency_factor(const sg::Host* from) const
{
  const auto* net_point = from->get_netpoint();
  if (net_point->get_englobing_zone() != this)
    return std::nullopt;
  const StreamRequest& request = stream_of(net_point->id()).request;
  return request.base_latency / request.sharing_latency;
}

FlowFactors FlowFactors::from_options()
{
  // "size:factor;size:factor…" or one factor for all (SimGrid's src/kernel/resource/FactorSet.cpp).
  const auto read = [](const char* option) {
    std::vector<Boundary> factors;
    std::istringstream text(simgrid::config::get_value<std::string>(option));
    for (std::string chunk; std::getline(text, chunk, ';');) {
      const auto colon = chunk.find(':');
      if (colon == std::string::npos)
        factors.emplace_back(-1.0, std::stod(chunk));
      else
        factors.emplace_back(std::stod(chunk.substr(0, colon)), std::stod(chunk.substr(colon + 1)));
    }
    std::ranges::sort(factors);
    return factors;
  };
  return {read("network/latency-factor"), read("network/bandwidth-factor")};
}

double FlowFactors::at(const std::vector<Boundary>& factors, double size)
{
  double factor = 1.0;
  for (const auto& [above, value] : factors)
    if (size > above)
      factor = value;
  return factor;
}

void StreamZone::divide_out_factors(StreamRequest& request) const
{
  // Fixed-point iteration, since the bandwidth factor depends on the size that it is applied to.
  double size = request.wire.value();
  for (int attempt = 0; attempt < 8; ++attempt)
    size = std::max(1.0, request.wire.value() * FlowFactors::at(factors_->bandwidth, size));
  request.wire            = Bytes(std::round(size));
  request.sharing_latency = request.base_latency / FlowFactors::at(factors_->latency, request.wire.value());
}

void StreamZone::start(const StreamRequest& request, FlowEnd done)
{
  // A single simcall: creating a host from a rank's context would yield to other ranks midway.
  simgrid::kernel::actor::simcall_answered([&] { begin(request, std::move(done)); });
}

void StreamZone::begin(const StreamRequest& request, FlowEnd done)
{
  Stream& stream = borrow();
  stream.request = request;
  // The latency factor divides by it, so it must not be 0.
  stream.request.sharing_latency = std::max(request.sharing_latency, Seconds(FlowRoute::LEAST_PENALTY));
  // SimGrid sets a flow's weight when its latency is over, so the latency must not be 0.
  stream.request.base_latency = std::max(request.base_latency, Seconds(1e-15));
  if (factors_)
    divide_out_factors(stream.request);
  stream.pace->set_bandwidth(request.rate_limit.value());
  stream.flow = sg::Comm::sendto_init();
  // SimGrid never signals the end of a flow of 0 bytes, but does for a fraction of a byte.
  stream.flow->set_payload_size(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(stream.request.wire.value())));
  if (request.exact)
    reinterpret_cast<simgrid::kernel::activity::CommImpl*>(stream.flow->get_impl())->set_size(request.wire.value());
  start_flow(stream.flow, stream.from, stream.to, [this, &stream, done = std::move(done)](const sg::Comm& flow) {
    const FlowResult result = result_of(flow, stream.request.wire.value(), stream.request.links);
    idle_.push_back(&stream);
    done(result);
  });
}

} // namespace weft
