// SPDX-License-Identifier: LGPL-2.1-only
#include "simgrid/fabric_zone.hpp"

#include "simgrid/private_abi.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/simcall.hpp>
#include <string>
#include <utility>

namespace sg = simgrid::s4u;

namespace weft {

FabricZone::FabricZone(const Fabric& fabric)
    : NetZoneImpl("fabric." + fabric.name()), fabric_(fabric), bytes_on_link_(fabric.links().size(), 0.0)
{
  if (ForwardingState::needed(fabric))
    forwarding_.emplace(fabric);
  if (fabric.noise() && not fabric.noise()->links.empty()) {
    jitter_.emplace(*fabric.noise());
    messages_sent_.resize(static_cast<std::size_t>(fabric.host_count() + fabric.switch_count()));
  }
  has_caches_ =
      std::ranges::any_of(fabric.switch_models(), [](const SwitchModel& model) { return model.forwarding.cached(); });
  ports_bound_ =
      std::ranges::any_of(fabric.switch_models(), [](const SwitchModel& model) { return model.forwarding.bounds(); });
}

FabricZone* FabricZone::create(const Fabric& fabric, const std::string& messages)
{
  auto* zone = new FabricZone(fabric); // SimGrid deletes it with the root zone
  zone->set_parent(sg::Engine::get_instance()->get_netzone_root()->get_impl());
  zone->add_hosts();
  zone->add_links();
  zone->streams_ = StreamZone::create();
  if (not messages.empty()) {
    zone->messages_.open(messages, std::ios::binary);
    sg::Engine::on_simulation_end_cb([zone] { zone->messages_.flush(); });
  }
  zone->set_factors();
  zone->follow_messages();
  return zone;
}

void FabricZone::add_hosts()
{
  for (int host = 0; host < fabric_.host_count(); ++host) {
    hosts_.push_back(get_iface()->add_host(fabric_.topology().host_name(host), fabric_.host().speed.value()));
    hosts_.back()->set_core_count(fabric_.host().cores);
  }
}

void FabricZone::add_links()
{
  for (const Link& link : fabric_.links()) {
    sg::Link* added = get_iface()->add_link(link.name, link.bandwidth.value())->set_latency(link.latency.value());
    link_ids_.emplace(added, static_cast<LinkId>(links_.size()));
    links_.push_back(added);
  }
  for (const SharedMedium& medium : fabric_.shared())
    shared_.push_back(get_iface()->add_link("weft.shared." + std::to_string(shared_.size()), medium.bandwidth.value()));
  // Resources are numbered as FabricWays::capacities() has them.
  if (fabric_.host().shares_memory())
    for (int host = 0; host < fabric_.host_count(); ++host)
      shared_.push_back(get_iface()->add_link(fabric_.topology().host_name(host) + ".memory",
                                              fabric_.host().memory_bandwidth.value()));
}

// Its flows do not slow each other down, but SimGrid solves again for all that have a link in common, and for each flow
// that it solves for on such a link it looks at all the others there: one for all hosts would cost their square.
sg::Link* FabricZone::loopback(const simgrid::kernel::routing::NetPoint* point)
{
  sg::Link*& known = loopbacks_[point->id()];
  if (not known) {
    unseal();
    known = get_iface()->add_link(point->get_name() + ".loopback", fabric_.host().loopback_bandwidth.value());
    known->set_sharing_policy(sg::Link::SharingPolicy::FATPIPE);
    known->set_latency(fabric_.host().loopback_latency.value())->seal();
  }
  return known;
}

void FabricZone::append_links(LinkId id, std::vector<sg::Link*>& into) const
{
  into.push_back(link(id));
  if (const std::optional<std::size_t> medium = fabric_.shared_by(id))
    into.push_back(shared_[*medium]);
}

void FabricZone::set_factors()
{
  get_iface()->set_latency_factor_cb([this](double size, const sg::Host* from, const sg::Host* to,
                                            const std::vector<sg::Link*>& links,
                                            const auto&) { return latency_factor(size, from, to, links); });
  get_iface()->set_bandwidth_factor_cb([this](double size, const sg::Host* from, const sg::Host* to, const auto&,
                                              const auto&) { return bandwidth_factor(size, from, to); });
}

// Ranks are placed on "all hosts" where nobody gives a host file, so switches become hosts only once the program runs.
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

VertexId FabricZone::vertex_of(const sg::Host* host) const
{
  return static_cast<VertexId>(host->get_netpoint()->id());
}

ForwardingState::Start FabricZone::start_message(const Route& route, VertexId from, VertexId to)
{
  if (messages_.is_open()) {
    const std::array<std::int32_t, 2> ends{from, to};
    messages_.write(reinterpret_cast<const char*>(ends.data()), sizeof ends);
  }
  return forwarding_ ? forwarding_->start(route, to, Seconds(sg::Engine::get_clock())) : ForwardingState::Start();
}

// The size of the program's own messages is not known here: they are taken for long ones.
void FabricZone::add_memory(unsigned long host, simgrid::kernel::routing::Route* into) const
{
  if (not fabric_.host().shares_memory() || std::cmp_greater_equal(host, fabric_.host_count()))
    return;
  auto* const memory = shared_[fabric_.shared().size() + host]->get_impl();
  const int copies   = fabric_.host().copies(Bytes(std::numeric_limits<double>::max()));
  for (int copy = 0; copy < copies; ++copy)
    into->link_list_.push_back(memory);
}

// Whoever only wants to know a way asks for no latency: a communication that starts does, once.
void FabricZone::get_local_route(const simgrid::kernel::routing::NetPoint* from,
                                 const simgrid::kernel::routing::NetPoint* to, simgrid::kernel::routing::Route* into,
                                 double* latency)
{
  double delay = 0;
  if (from == to) {
    into->link_list_.push_back(loopback(from)->get_impl());
    add_memory(from->id(), into);
    delay = fabric_.host().loopback_latency.value();
  } else {
    Route route;
    const auto source      = static_cast<VertexId>(from->id());
    const auto destination = static_cast<VertexId>(to->id());
    fabric_.route(source, destination, route);
    std::vector<sg::Link*> links;
    for (const LinkId id : route.links)
      append_links(id, links);
    for (const sg::Link* const one : links)
      into->link_list_.push_back(one->get_impl());
    delay = fabric_.latency(route).value();
    if (latency && std::max(source, destination) < fabric_.host_count()) {
      const ForwardingState::Start started = start_message(route, source, destination);
      end_message(std::exchange(started_, started.message)); // one that began would not stand there
      delay += started.added.value();
    }
  }
  constexpr double LEAST = 1e-12; // what jitter is added to must be something, since SimGrid multiplies it
  if (jitter_ && delay == 0)
    delay = LEAST;
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

// SimGrid asks for this factor exactly once a communication, with its route: the place to count bytes. Those of streams
// are counted as they start.
double FabricZone::latency_factor(double size, const sg::Host* from, const sg::Host* to,
                                  const std::vector<sg::Link*>& links)
{
  if (const std::optional<double> factor = streams_->latency_factor(from))
    return *factor;
  for (const sg::Link* link : links)
    if (const auto found = link_ids_.find(link); found != link_ids_.end())
      count_bytes(found->second, Bytes(size));
  const PointToPointSegment* const factors = segment(size, from, to);
  double factor                            = factors ? factors->latency_factor : 1.0;
  if (jitter_ && latency_ > 0)
    factor += jitter_of(links, vertex_of(from)).value() / latency_;
  const Seconds latency(latency_ * factor);
  expect_use(links, latency);
  begin_simgrids(size, from, to, links, latency);
  return factor;
}

Seconds FabricZone::jitter_of(const std::vector<sg::Link*>& links, VertexId from)
{
  std::vector<LinkId> ids;
  for (const sg::Link* link : links)
    if (const auto found = link_ids_.find(link); found != link_ids_.end())
      ids.push_back(found->second);
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
    end_message(message); // it fails at once
    return;
  }
  begin_message(message, Bytes(size), Bytes(size / bandwidth_factor(size, from, to)), latency);
  followed_.emplace(latest_action(*get_network_model()), message);
}

void FabricZone::follow_messages()
{
  if (not ports_bound_)
    return;
  for (LinkId id = 0; std::cmp_less(id, links_.size()); ++id)
    if (forwarding_->bounds(id))
      link(id)->set_sharing_policy(sg::Link::SharingPolicy::NONLINEAR,
                                   [this, id](double fixed, int) { return capacity(id, fixed); });
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
  if (std::cmp_greater_equal(resource, links_.size()) || not forwarding_->bounds(resource))
    return fixed;
  return std::min(fixed, forwarding_->rate(resource, Seconds(sg::Engine::get_clock())));
}

ForwardingState::Start FabricZone::count_message(const Route& route, VertexId from, VertexId to, Bytes bytes)
{
  for (const LinkId id : route.links)
    count_bytes(id, bytes);
  return start_message(route, from, to);
}

void FabricZone::count_again(const FlowWay& way, VertexId from, VertexId to, Bytes bytes)
{
  for (const int resource : way.resources)
    if (std::cmp_less(resource, links_.size()))
      count_bytes(resource, bytes);
  if (from == to)
    return;
  start_message({}, from, to);
  if (forwarding_)
    forwarding_->repeat(way.known_as);
}

sg::Link* FabricZone::resource(int number) const
{
  const auto at = static_cast<std::size_t>(number);
  return at < links_.size() ? links_[at] : shared_[at - links_.size()];
}

bool FabricZone::uses(int resource)
{
  // SimGrid is asked about those alone that it has been seen to use: it takes its time to answer.
  const auto at = static_cast<std::size_t>(resource);
  if (not seen_used_[at])
    return false;
  const sg::Link* const link = this->resource(resource);
  seen_used_[at]             = sg::Engine::get_clock() <= use_begins_[at] || link->is_used() || not link->is_on();
  return seen_used_[at];
}

void FabricZone::on_use(std::function<void(int)> told)
{
  on_use_ = std::move(told);
  use_begins_.assign(links_.size() + shared_.size(), -1.0);
  seen_used_.assign(use_begins_.size(), true);
  for (std::size_t number = 0; number < use_begins_.size(); ++number)
    resource_numbers_.emplace(resource(static_cast<int>(number)), static_cast<int>(number));
  streams_->on_start([this](const StreamRequest& stream) { expect_use(stream.links, stream.base_latency); });
  sg::Link::on_onoff_cb([this](const sg::Link& link) {
    if (const auto found = resource_numbers_.find(&link); found != resource_numbers_.end() && not link.is_on()) {
      seen_used_[static_cast<std::size_t>(found->second)] = true;
      on_use_(found->second);
    }
  });
}

void FabricZone::expect_use(const std::vector<sg::Link*>& links, Seconds latency)
{
  if (not on_use_)
    return;
  for (const sg::Link* link : links)
    if (const auto found = resource_numbers_.find(link); found != resource_numbers_.end()) {
      double& begins                                      = use_begins_[static_cast<std::size_t>(found->second)];
      begins                                              = std::max(begins, sg::Engine::get_clock() + latency.value());
      seen_used_[static_cast<std::size_t>(found->second)] = true;
      on_use_(found->second);
    }
}

} // namespace weft
