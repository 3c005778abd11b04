// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/platform/fabric_zone.hpp"

#include "binding/abi/original.hpp"
#include "binding/abi/private_abi.hpp"
#include "binding/abi/versions.hpp"
#include "binding/settings/settings.hpp"
#include "binding/settings/tunings.hpp"
#include "network/fabric_routes.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/simcall.hpp>
#include <string>
#include <utility>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

/** Zone of the run; null on SimGrid platforms. */
FabricZone* fabric_of_run = nullptr; // NOLINT(*-avoid-non-const-global-variables)

} // namespace

// Resources are numbered as in FabricRoutes::capacities(): links, shared media, the hosts' memories if
// they are limited, and storage.
FabricZone::FabricZone(const FabricState& state)
    : NetZoneImpl("fabric." + state.fabric().name()), state_(state), fabric_(state.fabric()),
      resources_(FabricRoutes::capacities(fabric_).size()), bytes_(fabric_.counted(), 0.0),
      hosts_(static_cast<std::size_t>(fabric_.host_count()))
{
  if (ForwardingState::needed(fabric_))
    forwarding_.emplace(fabric_);
  if (fabric_.noise() && not fabric_.noise()->links.empty()) {
    jitter_.emplace(*fabric_.noise());
    messages_sent_.resize(static_cast<std::size_t>(fabric_.host_count() + fabric_.switch_count()));
  }
  if (not fabric_.routing().is_static() && not fabric_.routing().needs_own_network())
    hashing_ = make_routing_policy(fabric_.routing(), fabric_.topology());
  has_caches_ =
      std::ranges::any_of(fabric_.switch_models(), [](const SwitchModel& model) { return model.forwarding.cached(); });
  ports_bound_ =
      std::ranges::any_of(fabric_.switch_models(), [](const SwitchModel& model) { return model.forwarding.bounds(); });
}

FabricZone* FabricZone::create(const FabricState& state, const std::optional<std::unordered_set<std::string>>& used,
                               const std::string& messages)
{
  auto* zone = new FabricZone(state); // deleted by SimGrid with the root zone
  zone->set_parent(sg::Engine::get_instance()->get_netzone_root()->get_impl());
  zone->add_hosts(used);
  zone->streams_ = StreamZone::create();
  if (not messages.empty()) {
    zone->messages_.open(messages, std::ios::binary);
    sg::Engine::on_simulation_end_cb([zone] { zone->messages_.flush(); });
  }
  zone->set_factors();
  zone->follow_messages();
  fabric_of_run = zone;
  return zone;
}

sg::Host* FabricZone::add_host(VertexId vertex, double speed)
{
  sg::Host* const added = get_iface()->add_host(fabric_.topology().vertex_name(vertex), speed);
  vertices_.resize(added->get_netpoint()->id() + 1, -1);
  vertices_.back() = vertex;
  return added;
}

sg::Host* FabricZone::make_host_at(VertexId vertex, int cores)
{
  sg::Host*& known = hosts_.at(static_cast<std::size_t>(vertex));
  if (not known) {
    unseal_zone(*this);
    known = add_host(vertex, fabric_.host().speed.value());
    known->set_core_count(cores);
    known->seal();
  }
  return known;
}

void FabricZone::add_hosts(const std::optional<std::unordered_set<std::string>>& used)
{
  for (VertexId host = 0; host < fabric_.host_count(); ++host) {
    if (used && not used->contains(fabric_.topology().host_name(host)))
      continue;
    hosts_[static_cast<std::size_t>(host)] = add_host(host, fabric_.host().speed.value());
    hosts_[static_cast<std::size_t>(host)]->set_core_count(fabric_.host().cores);
  }
}

// Each host has its own loopback. Flows on it do not slow each other down, but SimGrid solves again
// for all flows that share a link, and visits all other flows on the link for each: with one
// loopback for all hosts, the cost would be quadratic in the flows.
sg::Link* FabricZone::loopback(const simgrid::kernel::routing::NetPoint* point)
{
  sg::Link*& known = loopbacks_[is_on(TuningId::host_loopbacks) ? point->id() : 0];
  if (not known) {
    unseal_zone(*this);
    known = get_iface()->add_link(point->get_name() + ".loopback", fabric_.host().loopback_bandwidth.value());
    known->set_sharing_policy(sg::Link::SharingPolicy::FATPIPE);
    known->set_latency(fabric_.host().loopback_latency.value())->seal();
  }
  return known;
}

sg::Link* FabricZone::resource(int number)
{
  sg::Link*& known = resources_[static_cast<std::size_t>(number)];
  if (not known) {
    known = make_resource(number);
    numbers_.emplace(known, number);
  }
  return known;
}

sg::Link* FabricZone::make_resource(int number)
{
  unseal_zone(*this);
  if (is_link(number)) {
    const Link& link      = fabric_.link(number);
    sg::Link* const added = get_iface()->add_link(link.name, link.bandwidth.value())->set_latency(link.latency.value());
    if (not settings().contention)
      added->set_sharing_policy(sg::Link::SharingPolicy::FATPIPE);
    else if (ports_bound_ && forwarding_->bounds(number))
      added->set_sharing_policy(sg::Link::SharingPolicy::NONLINEAR,
                                [this, number](double fixed, int) { return capacity(number, fixed); });
    return added->seal();
  }
  const std::size_t beyond = static_cast<std::size_t>(number) - fabric_.links().size();
  if (beyond < fabric_.shared().size()) {
    sg::Link* const medium =
        get_iface()->add_link("weft.shared." + std::to_string(beyond), fabric_.shared()[beyond].bandwidth.value());
    if (not settings().contention)
      medium->set_sharing_policy(sg::Link::SharingPolicy::FATPIPE);
    return medium->seal();
  }
  if (StorageResources(fabric_).contains(number))
    return get_iface()
        ->add_link("weft.storage." + std::to_string(number),
                   FabricRoutes::capacities(fabric_)[static_cast<std::size_t>(number)])
        ->seal();
  const int memory   = static_cast<int>(beyond - fabric_.shared().size());
  const int memories = fabric_.host().memories();
  std::string name   = fabric_.topology().host_name(memory / memories) + ".memory";
  if (memories > 1)
    name += "-" + std::to_string(memory % memories);
  return get_iface()->add_link(name, fabric_.host().memory_bandwidth.value())->seal();
}

std::optional<int> FabricZone::number_of(const sg::Link* link, std::size_t position) const
{
  if (position < way_.size() && resources_[static_cast<std::size_t>(way_[position])] == link)
    return way_[position];
  const auto found = numbers_.find(link);
  return found != numbers_.end() ? std::optional(found->second) : std::nullopt;
}

void FabricZone::append_numbers(LinkId id, std::vector<int>& into) const
{
  into.push_back(id);
  if (const std::optional<std::size_t> medium = fabric_.shared_by(id))
    into.push_back(static_cast<int>(fabric_.links().size() + *medium));
}

void FabricZone::append_links(LinkId id, std::vector<sg::Link*>& into)
{
  into.push_back(resource(id));
  if (const std::optional<std::size_t> medium = fabric_.shared_by(id))
    into.push_back(resource(static_cast<int>(fabric_.links().size() + *medium)));
}

// Does not create the link if nothing has crossed it yet.
double FabricZone::use_of(LinkId id)
{
  return resources_[static_cast<std::size_t>(id)] ? Network::use_of(id) : 0;
}

void FabricZone::set_factors()
{
  get_iface()->set_latency_factor_cb([this](double size, const sg::Host* from, const sg::Host* to,
                                            const std::vector<sg::Link*>& links,
                                            const auto&) { return latency_factor(size, from, to, links); });
  get_iface()->set_bandwidth_factor_cb([this](double size, const sg::Host* from, const sg::Host* to, const auto&,
                                              const auto&) { return bandwidth_factor(size, from, to); });
}

// Without a hostfile, ranks are placed on "all hosts", so switches become hosts only once the
// program runs.
void FabricZone::add_switches()
{
  if (not switches_.empty())
    return;
  unseal_zone(*this);
  for (int index = 0; index < fabric_.switch_count(); ++index)
    switches_.push_back(add_host(fabric_.host_count() + index, 1.0)->seal());
}

sg::Host* FabricZone::endpoint(VertexId vertex)
{
  if (vertex < fabric_.host_count())
    return host_at(vertex);
  add_switches();
  return switches_.at(static_cast<std::size_t>(vertex - fabric_.host_count()));
}

bool FabricZone::is_host(const sg::Host* host) const
{
  return host->get_netpoint()->get_englobing_zone() == this && vertex_of(host) < fabric_.host_count();
}

VertexId FabricZone::vertex_of(const sg::Host* host) const
{
  return vertex_at(host->get_netpoint());
}

VertexId FabricZone::vertex_at(const simgrid::kernel::routing::NetPoint* point) const
{
  return vertices_.at(point->id());
}

ForwardingState::Start FabricZone::start_message(const Route& route, VertexId from, VertexId to)
{
  if (std::max(from, to) >= fabric_.host_count())
    return {};
  if (messages_.is_open()) {
    const std::array<std::int32_t, 2> ends{from, to};
    messages_.write(reinterpret_cast<const char*>(ends.data()), sizeof ends);
  }
  return forwarding_ ? forwarding_->start(route, to, Seconds(sg::Engine::get_clock())) : ForwardingState::Start();
}

/** Finds the route of a message; a query does not count as one. */
void FabricZone::route_message(VertexId from, VertexId to, bool starts, Route& into)
{
  if (hashing_ && (starts || not hashing_->routes_each_message()))
    hashing_->route(from, to, into);
  else
    state_.route(from, to, into);
}

// Assumes a long message between two sockets, since its size and the sockets of its ranks are not known here: the first
// of them copies it if it is copied once.
void FabricZone::add_memory(VertexId host, simgrid::kernel::routing::Route* into)
{
  const int memories = fabric_.host().memories();
  if (memories == 0 || host >= fabric_.host_count())
    return;
  const int before = static_cast<int>(fabric_.links().size() + fabric_.shared().size());
  const int copies = fabric_.host().copies(Bytes(std::numeric_limits<double>::max()));
  for (int copy = 0; copy < copies; ++copy)
    into->link_list_.push_back(resource(before + host * memories + copy % memories)->get_impl());
}

// A starting communication calls this exactly once with a non-null @p latency; mere route queries
// pass null.
void FabricZone::get_local_route(const simgrid::kernel::routing::NetPoint* from,
                                 const simgrid::kernel::routing::NetPoint* to, simgrid::kernel::routing::Route* into,
                                 double* latency)
{
  double delay = 0;
  if (from == to) {
    into->link_list_.push_back(loopback(from)->get_impl());
    add_memory(vertex_at(from), into);
    delay = fabric_.host().loopback_latency.value();
  } else {
    Route route;
    const VertexId source      = vertex_at(from);
    const VertexId destination = vertex_at(to);
    route_message(source, destination, latency != nullptr, route);
    way_.clear();
    for (const LinkId id : route.links)
      append_numbers(id, way_);
    into->link_list_.reserve(into->link_list_.size() + way_.size());
    for (const int number : way_)
      into->link_list_.push_back(resource(number)->get_impl());
    delay = fabric_.latency(route).value();
    if (latency) {
      const ForwardingState::Start started = start_message(route, source, destination);
      end_message(std::exchange(started_, started.message)); // still set: that message never began
      delay += started.added.value();
    }
  }
  constexpr double LEAST_DELAY = 1e-12; // jitter is applied as a factor, so the latency must not be 0
  if (jitter_ && delay == 0)
    delay = LEAST_DELAY;
  latency_ = delay;
  if (latency)
    *latency += delay;
}

const PointToPointSegment* FabricZone::segment(double size, const sg::Host* from, const sg::Host* to) const
{
  if (from == to || not is_host(from) || not is_host(to))
    return nullptr;
  return &fabric_.segment(Bytes(std::max(0.0, size - SMPI_ENVELOPE.value())));
}

// SimGrid calls this exactly once per communication, with its route, so bytes are counted here.
// Bytes of streams are counted when they start.
double FabricZone::latency_factor(double size, const sg::Host* from, const sg::Host* to,
                                  const std::vector<sg::Link*>& links)
{
  if (const std::optional<double> factor = streams_->latency_factor(from))
    return *factor;
  const int job = traffic_ ? traffic_->job_between(vertex_of(from), vertex_of(to)) : JobTraffic::UNKNOWN;
  if (traffic_)
    traffic_->count_message(job, Bytes(size));
  for (std::size_t position = 0; position < links.size(); ++position)
    if (const std::optional<int> number = number_of(links[position], position); number && is_link(*number)) {
      count_bytes(*number, Bytes(size));
      if (traffic_)
        traffic_->count_bytes(job, *number, Bytes(size));
    }
  const PointToPointSegment* const factors = segment(size, from, to);
  double factor                            = factors ? factors->latency_factor : 1.0;
  if (jitter_ && latency_ > 0)
    factor += jitter_of(links, vertex_of(from)).value() / latency_;
  const Seconds latency(latency_ * factor);
  const bool repeats = not forwarding_ && not jitter_ && not(hashing_ && hashing_->routes_each_message());
  if (repeats && is_host(from) && is_host(to))
    latest_ = {from, to, size, get_network_model().get()};
  begin_simgrids(size, from, to, links, latency);
  return factor;
}

std::optional<LatestMessage> FabricZone::take_latest_message()
{
  return fabric_of_run ? std::exchange(fabric_of_run->latest_, std::nullopt) : std::nullopt;
}

Seconds FabricZone::jitter_of(const std::vector<sg::Link*>& links, VertexId from)
{
  std::vector<LinkId> ids;
  for (std::size_t position = 0; position < links.size(); ++position)
    if (const std::optional<int> number = number_of(links[position], position); number && is_link(*number))
      ids.push_back(*number);
  return next_jitter(ids, from);
}

Seconds FabricZone::next_jitter(std::span<const LinkId> links, VertexId from)
{
  if (links.empty())
    return {};
  return jitter_->on(links, {Crossing::Kind::message, static_cast<std::uint32_t>(from),
                             messages_sent_[static_cast<std::size_t>(from)]++});
}

double FabricZone::bandwidth_factor(double size, const sg::Host* from, const sg::Host* to) const
{
  const PointToPointSegment* const factors = segment(size, from, to);
  return factors ? factors->bandwidth_factor : 1.0;
}

void FabricZone::begin_simgrids(double size, const sg::Host* from, const sg::Host* to,
                                const std::vector<sg::Link*>& links, Seconds latency)
{
  const ForwardingState::MessageNumber message = std::exchange(started_, ForwardingState::NONE);
  if (message == ForwardingState::NONE)
    return;
  if (not std::ranges::all_of(links, [](const sg::Link* link) { return link->is_on(); })) {
    end_message(message); // the message fails immediately
    return;
  }
  begin_message(message, Bytes(size), Bytes(size / bandwidth_factor(size, from, to)), latency);
  followed_.emplace(latest_action(*get_network_model()), message);
}

void FabricZone::follow_messages()
{
  if (not ports_bound_)
    return;
  simgrid::kernel::resource::on_end_of_action([this](const void* action) {
    if (const auto found = followed_.find(action); found != followed_.end()) {
      end_message(found->second);
      followed_.erase(found);
    }
  });
}

void FabricZone::begin_message(ForwardingState::MessageNumber message, Bytes bytes, Bytes volume, Seconds latency)
{
  if (forwarding_)
    forwarding_->begin(message, bytes, volume, Seconds(sg::Engine::get_clock()) + latency);
}

void FabricZone::end_message(ForwardingState::MessageNumber message)
{
  if (forwarding_)
    forwarding_->end(message, Seconds(sg::Engine::get_clock()));
}

double FabricZone::capacity(int resource, double fixed)
{
  if (not is_link(resource) || not forwarding_->bounds(resource))
    return fixed;
  return std::min(fixed, forwarding_->rate(resource, Seconds(sg::Engine::get_clock())));
}

ForwardingState::Start FabricZone::count_message(const Route& route, VertexId from, VertexId to, Bytes bytes)
{
  if (fabric_.sprays())
    for (const LinkId id : route.links)
      count_bytes(fabric_.counted_as(id, from, to), bytes);
  else
    for (const LinkId id : route.links)
      count_bytes(id, bytes);
  return start_message(route, from, to);
}

void FabricZone::count_again(const FlowRoute& way, VertexId from, VertexId to, Bytes bytes)
{
  const bool pools = fabric_.sprays();
  for (const int resource : way.resources)
    if (pools ? fabric_.counts(resource, from, to) : is_link(resource))
      count_bytes(resource, bytes);
  if (from == to)
    return;
  start_message({}, from, to);
  if (forwarding_)
    forwarding_->repeat(way.known_as);
}

} // namespace weft

namespace simgrid::kernel::routing {

// SimGrid's own function determines the zones of both ends and bypass routes, and builds tables of
// them for factor callbacks (src/kernel/routing/NetZoneImpl.cpp). All hosts of a fabric are in one
// zone without bypass routes, and its callbacks use no table.
WEFT_INTERPOSED void NetZoneImpl::get_global_route_with_netzones(const NetPoint* from, const NetPoint* to,
                                                                 std::vector<resource::StandardLinkImpl*>& links,
                                                                 double* latency,
                                                                 std::unordered_set<NetZoneImpl*>& zones)
{
  static const auto THEIRS = weft::original(&NetZoneImpl::get_global_route_with_netzones);
  NetZoneImpl* const zone  = from->get_englobing_zone();
  if (not zone || zone != weft::fabric_of_run || to->get_englobing_zone() != zone)
    return THEIRS(from, to, links, latency, zones);
  Route route;
  route.link_list_ = std::move(links);
  zone->get_local_route(from, to, &route, latency);
  links = std::move(route.link_list_);
}

} // namespace simgrid::kernel::routing
