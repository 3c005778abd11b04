#include "simgrid/stream_zone.hpp"

#include <algorithm>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/simcall.hpp>
#include <utility>

namespace sg = simgrid::s4u;

namespace weft {

/** Two end points and the route that they lend to the stream in flight. */
struct StreamZone::Stream {
  sg::Host* from = nullptr;
  sg::Host* to   = nullptr;
  sg::Link* pace = nullptr; // as fast as the stream may ever be: SimGrid drops the rate of a host-to-host flow
  StreamRequest request;
  sg::CommPtr flow; // kept until the next use: SimGrid still looks at it after telling that it ended
};

StreamZone::StreamZone(const std::string& name) : NetZoneImpl(name) {}
StreamZone::~StreamZone() = default;

StreamZone* StreamZone::create()
{
  auto* zone = new StreamZone("weft.streams"); // SimGrid deletes it with the root zone
  zone->set_parent(sg::Engine::get_instance()->get_netzone_root()->get_impl());
  return zone;
}

// End points are made when they are first needed: ranks are placed on "all hosts" where nobody gives a host file.
StreamZone::Stream& StreamZone::borrow()
{
  if (idle_.empty()) {
    unseal();
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

void StreamZone::start(const StreamRequest& request, std::function<void()> done)
{
  // In one go: a rank that makes a host would else give way to others in the middle.
  simgrid::kernel::actor::simcall_answered([&] { begin(request, std::move(done)); });
}

void StreamZone::begin(const StreamRequest& request, std::function<void()> done)
{
  Stream& stream = borrow();
  stream.request = request;
  // The latency factor divides by it.
  stream.request.sharing_latency = std::max(request.sharing_latency, Seconds(1e-9));
  stream.pace->set_bandwidth(request.rate_limit.value());
  stream.flow = sg::Comm::sendto_init();
  stream.flow->set_payload_size(static_cast<std::uint64_t>(request.wire.value()));
  stream.flow->on_this_completion_cb([this, &stream, done = std::move(done)](const sg::Comm&) {
    idle_.push_back(&stream);
    done();
  });
  stream.flow->set_source(stream.from)->set_destination(stream.to); // starts it
}

} // namespace weft
