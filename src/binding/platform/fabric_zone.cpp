// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/platform/fabric_zone.hpp"

#include "binding/abi/kernel/network_actions.hpp"
#include "binding/abi/original.hpp"
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

FabricZone::FabricZone(const FabricState& state)
    : NetZoneImpl("fabric." + state.fabric().name()), state_(state), fabric_(state.fabric()), traffic_(fabric_),
      resources_(*this, fabric_, traffic_), hosts_(static_cast<std::size_t>(fabric_.host_count()))
{
  if (not fabric_.routing().is_static() && not fabric_.routing().needs_own_network())
    hashing_ = make_routing_policy(fabric_.routing(), fabric_.topology());
}

FabricZone* FabricZone::create(const FabricState& state, const std::optional<std::unordered_set<std::string>>& used,
                               const std::string& messages)
{
  auto* zone = new FabricZone(state); // deleted by SimGrid with the root zone
  zone->set_parent(sg::Engine::get_instance()->get_netzone_root()->get_impl());
  zone->add_hosts(used);
  zone->streams_ = StreamZone::create();
  if (not messages.empty())
    zone->traffic_.record_messages(messages);
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

/** Returns the number of a link on the latest route at once, and those of others by a lookup. */
std::optional<int> FabricZone::number_of(const sg::Link* link, std::size_t position) const
{
  return position < way_.size() && resources_.is(way_[position], link) ? way_[position] : resources_.number_of(link);
}

void FabricZone::append_links(LinkId id, std::vector<sg::Link*>& into)
{
  std::vector<int> numbers;
  resources_.append_numbers(id, numbers);
  for (const int number : numbers)
    into.push_back(resources_.link(number));
}

// Does not create the link if nothing has crossed it yet.
double FabricZone::use_of(LinkId id)
{
  return resources_.exists(id) ? Network::use_of(id) : 0;
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
sg::Host* FabricZone::endpoint(VertexId vertex)
{
  if (vertex < fabric_.host_count())
    return host_at(vertex);
  if (switches_.empty()) {
    unseal_zone(*this);
    for (int index = 0; index < fabric_.switch_count(); ++index)
      switches_.push_back(add_host(fabric_.host_count() + index, 1.0)->seal());
  }
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

/** Finds the route of a message; a query does not count as one. */
void FabricZone::route_message(VertexId from, VertexId to, bool starts, Route& into)
{
  if (hashing_ && (starts || not hashing_->routes_each_message()))
    hashing_->route(from, to, into);
  else
    state_.route(from, to, into);
}

// A starting communication calls this exactly once with a non-null @p latency; mere route queries
// pass null.
void FabricZone::get_local_route(const simgrid::kernel::routing::NetPoint* from,
                                 const simgrid::kernel::routing::NetPoint* to, simgrid::kernel::routing::Route* into,
                                 double* latency)
{
  double delay = 0;
  if (from == to) {
    into->link_list_.push_back(resources_.loopback(*from)->get_impl());
    resources_.append_memory(vertex_at(from), into->link_list_);
    delay = fabric_.host().loopback_latency.value();
  } else {
    Route route;
    const VertexId source      = vertex_at(from);
    const VertexId destination = vertex_at(to);
    route_message(source, destination, latency != nullptr, route);
    way_.clear();
    for (const LinkId id : route.links)
      resources_.append_numbers(id, way_);
    into->link_list_.reserve(into->link_list_.size() + way_.size());
    for (const int number : way_)
      into->link_list_.push_back(resources_.link(number)->get_impl());
    delay = fabric_.latency(route).value();
    if (latency) {
      const ForwardingState::Start started = traffic_.start(route, source, destination);
      traffic_.end(std::exchange(started_, started.message)); // still set: that message never began
      delay += started.added.value();
    }
  }
  constexpr double LEAST_DELAY = 1e-12; // jitter is applied as a factor, so the latency must not be 0
  if (traffic_.has_jitter() && delay == 0)
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
  const int job = job_traffic_ ? job_traffic_->job_between(vertex_of(from), vertex_of(to)) : JobTraffic::UNKNOWN;
  if (job_traffic_)
    job_traffic_->count_message(job, Bytes(size));
  for (std::size_t position = 0; position < links.size(); ++position)
    if (const std::optional<int> number = number_of(links[position], position); number && resources_.is_link(*number)) {
      traffic_.count_bytes(*number, Bytes(size));
      if (job_traffic_)
        job_traffic_->count_bytes(job, *number, Bytes(size));
    }
  const PointToPointSegment* const factors = segment(size, from, to);
  double factor                            = factors ? factors->latency_factor : 1.0;
  if (traffic_.has_jitter() && latency_ > 0)
    factor += jitter_of(links, vertex_of(from)).value() / latency_;
  const Seconds latency(latency_ * factor);
  const bool repeats = not traffic_.varies() && not(hashing_ && hashing_->routes_each_message());
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
    if (const std::optional<int> number = number_of(links[position], position); number && resources_.is_link(*number))
      ids.push_back(*number);
  return traffic_.next_jitter(ids, from);
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
    traffic_.end(message); // the message fails immediately
    return;
  }
  traffic_.begin(message, Bytes(size), Bytes(size / bandwidth_factor(size, from, to)), latency);
  followed_.emplace(latest_action(*get_network_model()), message);
}

void FabricZone::follow_messages()
{
  if (not traffic_.ports_bound())
    return;
  simgrid::kernel::resource::on_end_of_action([this](const void* action) {
    if (const auto found = followed_.find(action); found != followed_.end()) {
      traffic_.end(found->second);
      followed_.erase(found);
    }
  });
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
