// SPDX-License-Identifier: LGPL-2.1-only
#include "network/fabric_routes.hpp"

#include "fabric/forwarding_state.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace weft {
namespace {

constexpr double NO_BOUND = std::numeric_limits<double>::infinity();
constexpr int USES        = 3; // resources of a storage target or disk

/** Returns the largest number of stripes of a message. 1 for sprayed packets, which use all cables anyway, and with
 * forwarding caches, which follow one route per message. */
int stripes_of(const Fabric& fabric)
{
  return fabric.sprays() || ForwardingState::needed(fabric) ? 1 : fabric.stripes();
}

} // namespace

std::vector<int> FabricRoutes::tails(const Fabric& fabric)
{
  std::vector<int> tails(fabric.links().size() + fabric.shared().size(), -1);
  for (std::size_t id = 0; id < fabric.links().size(); ++id) {
    tails[id] = fabric.links()[id].from;
    if (const std::optional<std::size_t> medium = fabric.shared_by(static_cast<LinkId>(id)))
      if (int& tail = tails[fabric.links().size() + *medium]; tail < 0)
        tail = tails[id];
  }
  return tails;
}

std::vector<double> FabricRoutes::capacities(const Fabric& fabric)
{
  std::vector<double> all;
  for (const Link& link : fabric.links())
    all.push_back(link.bandwidth.value());
  for (const SharedMedium& medium : fabric.shared())
    all.push_back(medium.bandwidth.value());
  if (fabric.host().shares_memory())
    all.resize(all.size() + static_cast<std::size_t>(fabric.host_count() * fabric.host().memories()),
               fabric.host().memory_bandwidth.value());
  StorageResources::append_capacities(fabric, all);
  return all;
}

StorageResources::StorageResources(const Fabric& fabric)
    : targets_from_(static_cast<int>(fabric.links().size() + fabric.shared().size()) +
                    fabric.host_count() * fabric.host().memories()),
      disks_from_(targets_from_ + (fabric.storage() ? USES * fabric.storage()->targets() : 0))
{
}

void StorageResources::append_capacities(const Fabric& fabric, std::vector<double>& into)
{
  const auto append = [&into](const auto& device, int number) {
    for (int one = 0; one < number; ++one)
      for (const BytesPerSecond rate :
           {device.read_bandwidth, device.write_bandwidth, std::max(device.read_bandwidth, device.write_bandwidth)})
        into.push_back(rate.value());
  };
  if (fabric.storage())
    append(fabric.storage()->model, fabric.storage()->targets());
  if (fabric.disk())
    append(*fabric.disk(), fabric.host_count());
}

void StorageResources::append_target(int target, bool write, std::vector<int>& into) const
{
  const int first = targets_from_ + USES * target;
  into.insert(into.end(), {first + (write ? 1 : 0), first + 2});
}

void StorageResources::append_disk(int host, bool write, std::vector<int>& into) const
{
  const int first = disks_from_ + USES * host;
  into.insert(into.end(), {first + (write ? 1 : 0), first + 2});
}

/** Returns the resource that represents the memory of a socket. */
int FabricRoutes::memory(int host, int socket) const
{
  return static_cast<int>(fabric_.links().size() + fabric_.shared().size()) + host * fabric_.host().memories() + socket;
}

/** Distributes a message that uses a host's memory over all sockets, since the sockets of its ranks are unknown. */
void FabricRoutes::add_memories(int host, FlowRoute& into) const
{
  const HostModel& model = fabric_.host();
  const int copies       = model.copies(Bytes(std::numeric_limits<double>::max()));
  const double part      = static_cast<double>(copies) / model.memories();
  into.resources.clear();
  for (int socket = 0; socket < model.memories(); ++socket)
    into.resources.push_back(memory(host, socket));
  into.volume *= part;
  into.bound *= part;
}

void FabricRoutes::within(int host, Bytes bytes, double missed, FlowRoute& into) const
{
  const HostModel& model = fabric_.host();
  const int copies       = model.copies(bytes - SMPI_ENVELOPE);
  const bool passes      = model.shares_memory() && missed > 0;
  into.latency           = model.loopback_latency.value();
  into.penalty = std::max(into.latency, FlowRoute::LEAST_PENALTY); // equal for all flows that share a host's memory
  into.volume  = bytes.value();
  into.bound   = model.loopback_bandwidth.value();
  if (copies == 2 && model.cores_copy()) { // the copies take core time; the remainder is memory stall
    into.volume = passes ? into.volume : 0;
    into.bound  = model.memory_bandwidth.value();
  }
  if (passes) {
    into.resources.assign(static_cast<std::size_t>(copies), memory(host));
    into.volume *= missed;
    into.bound *= missed;
  }
}

/** Finds the intra-host route of a message whose cache misses are unknown. */
void FabricRoutes::within_anyhow(int host, Bytes bytes, FlowRoute& into) const
{
  const HostModel& model = fabric_.host();
  into.latency           = model.loopback_latency.value();
  into.penalty           = std::max(into.latency, FlowRoute::LEAST_PENALTY);
  into.volume            = bytes.value();
  into.bound             = model.loopback_bandwidth.value();
  if (model.has_sockets() && model.shares_memory()) {
    add_memories(host, into);
  } else if (model.shares_memory()) {
    const int copies = model.copies(Bytes(std::numeric_limits<double>::max()));
    into.resources.assign(static_cast<std::size_t>(copies), memory(host));
    into.bound = std::min(into.bound, model.memory_bandwidth.value());
  }
}

/** Finds the route of a message within a host: its bound is the core's own time, and its copies load the sockets of its
 * ranks. */
void FabricRoutes::within_sockets(const SocketMessage& message, FlowRoute& into) const
{
  const HostModel& model = fabric_.host();
  const Bytes size       = message.bytes - SMPI_ENVELOPE;
  const bool twice       = model.copies(size) == 2 && model.cores_copy();
  const bool crosses     = message.from_socket != message.to_socket;
  const double crossing  = crosses ? size.value() / model.intersocket_rate.value() : 0;
  into.latency           = model.loopback_latency.value() + (crosses ? model.intersocket_latency.value() : 0);
  into.penalty           = std::max(model.loopback_latency.value(), FlowRoute::LEAST_PENALTY);
  // Two copies take core time; the remainder is the extra time of each in memory.
  const double alone = crossing + (twice ? 2 * size.value() * message.missed / model.core_memory_rate.value()
                                         : message.bytes.value() / model.loopback_bandwidth.value());
  into.volume        = model.shares_memory() ? model.load(message.bytes, 1 - message.missed, message.missed) : 0;
  if (into.volume > 0) {
    if (model.copies(size) == 2)
      into.resources.push_back(memory(message.from, message.from_socket));
    into.resources.push_back(memory(message.to, message.to_socket));
    into.bound = std::min(model.memory_bandwidth.value(), alone > 0 ? into.volume / alone : NO_BOUND);
  } else {
    into.latency += alone;
    into.bound = NO_BOUND;
  }
}

FabricRoutes::FabricRoutes(const FabricState* known) : FabricRoutes(known->fabric())
{
  state_ = known;
  rerouting_.emplace(*known);
}

FabricRoutes::FabricRoutes(const Fabric& fabric)
    : fabric_(fabric), state_(nullptr),
      policy_(fabric.routing().is_static() ? nullptr : make_routing_policy(fabric.routing(), fabric.topology())),
      static_(fabric.topology()), routes_each_message_(policy_ && policy_->routes_each_message()),
      most_stripes_(stripes_of(fabric)), eager_below_(fabric.mpi().value_or(MpiModel()).eager_threshold)
{
  constexpr std::size_t A_HOST = 8; // routes per host: the neighbours of a 3-D stencil, plus two
  constexpr std::size_t MOST   = 1U << 15U;
  known_.resize(std::min(MOST, std::bit_ceil(A_HOST * static_cast<std::size_t>(fabric.host_count()))));
  if (most_stripes_ > 1)
    striped_.resize(known_.size());
}

/** Returns whether a cached route is still the current one between its vertices. */
bool FabricRoutes::is_valid(KnownRoute& known) const
{
  if (not state_ || known.epoch == state_->epoch())
    return true;
  if (not known.is_usual || not state_->is_up(known.route))
    return false;
  known.epoch = state_->epoch();
  return true;
}

FabricRoutes::KnownRoute& FabricRoutes::place(std::vector<KnownRoute>& all, int from, int to) const
{
  constexpr std::uint64_t GOLDEN = 0x9e3779b97f4a7c15; // multiplicative hash: Knuth, TAOCP 3, 6.4
  const std::uint64_t name       = (static_cast<std::uint64_t>(from) << 32U) | static_cast<std::uint32_t>(to);
  return all[(name * GOLDEN >> 32U) & (all.size() - 1)];
}

void FabricRoutes::begin(KnownRoute& known, int from, int to) const
{
  constexpr int NO_HOST = -1; // the next message gets a new route
  known.from            = routes_each_message_ ? NO_HOST : from;
  known.to              = to;
  known.epoch           = state_ ? state_->epoch() : 0;
  known.route.links.clear();
  known.route.through.clear();
  known.resources.clear();
  known.narrowest = NO_BOUND;
}

void FabricRoutes::add_resources(KnownRoute& known, const Route& route, bool sprayed) const
{
  for (const LinkId id : route.links) {
    const std::optional<std::size_t> medium = fabric_.shared_by(id);
    if (not sprayed || not medium) {
      known.resources.push_back(id);
      known.narrowest = std::min(known.narrowest, fabric_.link(id).bandwidth.value());
    }
    if (medium) {
      known.resources.push_back(static_cast<int>(fabric_.links().size() + *medium));
      known.narrowest = std::min(known.narrowest, fabric_.shared()[*medium].bandwidth.value());
    }
  }
}

const FabricRoutes::KnownRoute& FabricRoutes::between(int from, int to)
{
  KnownRoute& known = place(known_, from, to);
  if (known.from == from && known.to == to && is_valid(known))
    return known;
  begin(known, from, to);
  if (policy_)
    policy_->route(from, to, known.route);
  else
    fabric_.route(from, to, known.route);
  known.is_usual = not state_ || state_->is_up(known.route);
  known.exists   = known.is_usual || rerouting_->find(from, to, known.route);
  add_resources(known, known.route, fabric_.sprays() && std::max(from, to) < fabric_.host_count());
  known.latency = fabric_.latency(known.route);
  if (policy_)
    policy_->enter(known.resources); // for every message, if the policy depends on loads: it then routes each message
  return known;
}

/** Returns the route of a message, or the union of its stripes' routes. */
const FabricRoutes::KnownRoute& FabricRoutes::between(int from, int to, Bytes bytes)
{
  const double parts = std::floor(bytes / fabric_.nic().least_stripe);
  if (most_stripes_ == 1 || parts < 2 || std::max(from, to) >= fabric_.host_count())
    return between(from, to);
  const int stripes = static_cast<int>(std::min<double>(most_stripes_, parts));
  KnownRoute& known = place(striped_, from, to);
  const bool kept   = known.from == from && known.to == to && known.asked == stripes && is_valid(known);
  if (not kept)
    divide(known, from, to, stripes);
  return known.stripes > 1 ? known : between(from, to);
}

/** Finds the routes of @p stripes stripes of a message, or of fewer if cables or working routes are too few. */
void FabricRoutes::divide(KnownRoute& known, int from, int to, int stripes)
{
  begin(known, from, to);
  known.asked           = stripes;
  known.stripes         = 0;
  known.latency         = {};
  known.is_usual        = true;
  RoutingPolicy& policy = policy_ ? *policy_ : static_;
  const int most        = std::min({stripes, policy.cables_between(from, to), policy.cables_between(to, from)});
  for (int stripe = 0; stripe < most; ++stripe) {
    stripe_.clear();
    policy.route_stripe(from, to, stripe, stripe_);
    if (state_ && not state_->is_up(stripe_)) {
      known.is_usual = false;
      continue;
    }
    ++known.stripes;
    known.route.links.insert(known.route.links.end(), stripe_.links.begin(), stripe_.links.end());
    known.route.through.insert(known.route.through.end(), stripe_.through.begin(), stripe_.through.end());
    add_resources(known, stripe_, false);
    known.latency = std::max(known.latency, fabric_.latency(stripe_));
  }
  if (policy_ && known.stripes > 1)
    policy_->enter(known.resources);
}

void FabricRoutes::find(int from, int to, Bytes bytes, double missed, FlowRoute& into)
{
  if (from == to && missed == UNKNOWN_PART) {
    within_anyhow(from, bytes, into);
    return;
  }
  if (from == to) {
    within(from, bytes, missed, into);
    return;
  }
  const Bytes size(std::max(0.0, (bytes - SMPI_ENVELOPE).value()));
  const KnownRoute& known = between(from, to, size);
  last_stripes_           = known.stripes;
  into.resources          = known.resources;
  if (fabric_.host().shares_memory() && not fabric_.host().has_sockets() && loads_memories(size, missed)) {
    into.resources.push_back(memory(from));
    into.resources.push_back(memory(to));
  }
  // The bandwidth factor is the fraction of the occupied bandwidth that a message gets.
  const bool from_or_to_switch       = std::max(from, to) >= fabric_.host_count();
  const PointToPointSegment& factors = from_or_to_switch ? no_factors_ : fabric_.segment(size);
  const Bytes stripe                 = bytes / static_cast<double>(known.stripes);
  const Seconds latency              = known.latency + start(known.route, from, to, stripe);
  into.latency                       = (latency * factors.latency_factor).value();
  into.penalty                       = latency > Seconds() ? latency.value() : 1; // SimGrid's default
  into.bound                         = known.narrowest;
  into.volume                        = stripe.value() / factors.bandwidth_factor;
}

/** Returns whether a message between hosts loads their memories: eager messages are copied into the buffer that the NIC
 * reads, and out of the buffer that it writes. */
bool FabricRoutes::loads_memories(Bytes bytes, double missed) const
{
  constexpr double MOST = 0.5; // limit, since a flow loads all resources of its route with its full size
  return missed > MOST && fabric_.host().cores_copy() && bytes < eager_below_;
}

void FabricRoutes::find_on_sockets(const SocketMessage& message, FlowRoute& into)
{
  find(message.from, message.to, message.bytes, message.missed, into);
  if (message.from == message.to) {
    into.resources.clear();
    within_sockets(message, into);
    return;
  }
  if (fabric_.host().shares_memory() && loads_memories(message.bytes - SMPI_ENVELOPE, message.missed)) {
    into.resources.push_back(memory(message.from, message.from_socket));
    into.resources.push_back(memory(message.to, message.to_socket));
  }
}

void FabricRoutes::find_work(const SocketWork& work, FlowRoute& into)
{
  into.resources.assign(1, memory(work.host, work.socket));
  into.latency = 0;
  into.penalty = std::max(fabric_.host().loopback_latency.value(),
                          FlowRoute::LEAST_PENALTY); // the same as for messages within the host
  into.volume  = work.load;
  into.bound   = std::min(fabric_.host().memory_bandwidth.value(),
                          work.time > Seconds() ? work.load / work.time.value() : NO_BOUND);
}

const std::vector<int>* FabricRoutes::known_route(int from, int to)
{
  const KnownRoute& known = between(from, to);
  if (policy_)
    policy_->leave(known.resources); // only a query: no message starts
  return known.exists ? &known.resources : nullptr;
}

int FabricRoutes::find_for_storage(int from, int to, Bytes bytes, FlowRoute& into)
{
  into        = {};
  into.volume = bytes.value();
  if (from == to) {
    into.bound   = std::numeric_limits<double>::infinity();
    into.penalty = std::max(fabric_.host().loopback_latency.value(), FlowRoute::LEAST_PENALTY);
    return 1;
  }
  const KnownRoute& known = between(from, to, bytes);
  into.volume /= known.stripes;
  into.resources = known.resources;
  into.bound     = known.narrowest;
  into.penalty   = std::max(known.latency.value(), FlowRoute::LEAST_PENALTY);
  if (policy_)
    policy_->leave(known.resources); // the flow enters when it starts
  return known.stripes;
}

} // namespace weft
