#include "simgrid/fabric_zone.hpp"

#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/simcall.hpp>

#include <string>

namespace sg = simgrid::s4u;

namespace weft {

/** Two end points and the route that they lend to the stream in flight. */
struct FabricZone::Stream {
  sg::Host* from = nullptr;
  sg::Host* to   = nullptr;
  sg::Link* pace = nullptr; // as fast as the stream may ever be: SimGrid drops the rate of a host-to-host flow
  StreamRequest request;
  sg::CommPtr flow; // kept until the next use: SimGrid still looks at it after telling that it ended
};

FabricZone::FabricZone(const Fabric& fabric)
    : NetZoneImpl(fabric.name()), fabric_(fabric), bytes_on_link_(fabric.links().size(), 0.0)
{
}

FabricZone::~FabricZone() = default;

FabricZone* FabricZone::create(const Fabric& fabric)
{
  sg::NetZone* root = sg::Engine::get_instance()->get_netzone_root();
  auto* zone        = new FabricZone(fabric); // SimGrid deletes it with the root zone
  zone->set_parent(root->get_impl());
  sg::NetZone* face = zone->get_iface();

  for (int host = 0; host < fabric.host_count(); ++host) {
    sg::Host* added = face->add_host(fabric.topology().host_name(host), fabric.host().speed.value());
    added->set_core_count(fabric.host().cores);
    zone->hosts_.push_back(added);
  }
  for (const Link& link : fabric.links()) {
    sg::Link* added = face->add_link(link.name, link.bandwidth.value());
    added->set_latency(link.latency.value());
    zone->link_ids_.emplace(added, static_cast<LinkId>(zone->links_.size()));
    zone->links_.push_back(added);
  }
  zone->loopback_ = face->add_link(fabric.name() + ".loopback", fabric.host().loopback_bandwidth.value());
  zone->loopback_->set_sharing_policy(sg::Link::SharingPolicy::FATPIPE);
  zone->loopback_->set_latency(fabric.host().loopback_latency.value());

  face->set_latency_factor_cb([zone](double size, const sg::Host* from, const sg::Host* to,
                                     const std::vector<sg::Link*>& links,
                                     const auto&) { return zone->latency_factor(size, from, to, links); });
  face->set_bandwidth_factor_cb([zone](double size, const sg::Host* from, const sg::Host* to, const auto&,
                                       const auto&) { return zone->bandwidth_factor(size, from, to); });
  return zone;
}

// Ranks are placed on "all hosts" where nobody gives a host file, so switches and stream ends become hosts only once
// the program runs.
void FabricZone::add_switches()
{
  if (not switches_.empty())
    return;
  unseal();
  for (int index = 0; index < fabric_.switch_count(); ++index)
    switches_.push_back(get_iface()->add_host(fabric_.topology().switch_name(index), 1.0)->seal());
}

sg::Host* FabricZone::switch_host(int index)
{
  simgrid::kernel::actor::simcall_answered([this] { add_switches(); });
  return switches_.at(static_cast<std::size_t>(index));
}

bool FabricZone::is_host(const sg::Host* host) const
{
  return host->get_netpoint()->get_englobing_zone() == this && vertex_of(host) < fabric_.host_count();
}

FabricZone::Stream& FabricZone::borrow_stream()
{
  add_switches(); // their net points come before those of streams
  if (idle_.empty()) {
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

FabricZone::Stream* FabricZone::stream_of(unsigned long net_point) const
{
  const auto first = static_cast<unsigned long>(vertices());
  return net_point < first ? nullptr : streams_.at((net_point - first) / 2).get();
}

void FabricZone::get_local_route(const simgrid::kernel::routing::NetPoint* from,
                                 const simgrid::kernel::routing::NetPoint* to, simgrid::kernel::routing::Route* into,
                                 double* latency)
{
  const auto push = [&](const sg::Link* link) { into->link_list_.push_back(link->get_impl()); };
  double delay    = 0;
  if (const Stream* stream = stream_of(from->id())) {
    push(stream->pace);
    for (const LinkId link : stream->request.links)
      push(links_[static_cast<std::size_t>(link)]);
    delay = stream->request.sharing_latency.value();
  } else if (from == to) {
    push(loopback_);
    delay = fabric_.host().loopback_latency.value();
  } else {
    Route route;
    fabric_.route(static_cast<VertexId>(from->id()), static_cast<VertexId>(to->id()), route);
    for (const LinkId link : route.links)
      push(links_[static_cast<std::size_t>(link)]);
    delay = fabric_.latency(route).value();
  }
  if (latency)
    *latency += delay;
}

VertexId FabricZone::vertex_of(const sg::Host* host) const
{
  return static_cast<VertexId>(host->get_netpoint()->id());
}

bool FabricZone::point_to_point(const sg::Host* from, const sg::Host* to) const
{
  return from != to && vertex_of(from) < fabric_.host_count() && vertex_of(to) < fabric_.host_count();
}

// SimGrid asks for this factor exactly once a communication, with its route: the place to count bytes.
double FabricZone::latency_factor(double size, const sg::Host* from, const sg::Host* to,
                                  const std::vector<sg::Link*>& links)
{
  for (const sg::Link* link : links)
    if (const auto found = link_ids_.find(link); found != link_ids_.end())
      bytes_on_link_[static_cast<std::size_t>(found->second)] += size;
  if (const Stream* stream = stream_of(from->get_netpoint()->id()))
    return stream->request.base_latency / stream->request.sharing_latency;
  return point_to_point(from, to) ? fabric_.segment(Bytes(size)).latency_factor : 1.0;
}

double FabricZone::bandwidth_factor(double size, const sg::Host* from, const sg::Host* to) const
{
  return point_to_point(from, to) ? fabric_.segment(Bytes(size)).bandwidth_factor : 1.0;
}

void FabricZone::start_stream(const StreamRequest& request, std::function<void()> done)
{
  // In one go: a rank that makes a host would else give way to others in the middle.
  simgrid::kernel::actor::simcall_answered([&] { start(request, std::move(done)); });
}

void FabricZone::start(const StreamRequest& request, std::function<void()> done)
{
  Stream& stream = borrow_stream();
  stream.request = request;
  stream.flow    = sg::Comm::sendto_init();
  stream.flow->set_payload_size(static_cast<std::uint64_t>(request.wire.value()));
  stream.pace->set_bandwidth(request.rate_limit.value());
  stream.flow->on_this_completion_cb([this, &stream, done = std::move(done)](const sg::Comm&) {
    idle_.push_back(&stream);
    done();
  });
  stream.flow->set_source(stream.from)->set_destination(stream.to); // starts it
}

} // namespace weft
