// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/messages/zone_routes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace weft {

ZoneRoutes::ZoneRoutes(const Fabric& fabric, FabricTraffic& traffic)
    : FabricRoutes(fabric), fabric_(fabric), traffic_(traffic),
      repeats_(FabricRoutes::repeats() && not traffic.has_caches() && not traffic.has_jitter())
{
}

ZoneRoutes::ZoneRoutes(const FabricState* known, FabricTraffic& traffic)
    : FabricRoutes(known), fabric_(known->fabric()), traffic_(traffic),
      repeats_(FabricRoutes::repeats() && not traffic.has_caches() && not traffic.has_jitter())
{
}

void ZoneRoutes::find(int from, int to, Bytes bytes, double missed, FlowRoute& into)
{
  started_ = ForwardingState::NONE;
  FabricRoutes::find(from, to, bytes, missed, into);
  into.known_as = started_;
  if (traffic_.has_jitter())
    add_jitter(from, into);
  traffic_.begin(started_, bytes, Bytes(into.volume), Seconds(into.latency));
}

void ZoneRoutes::find_rest(int from, int to, Bytes bytes, double missed, double part, FlowRoute& into)
{
  part_ = part;
  find(from, to, bytes, missed, into);
  part_ = 1;
}

void ZoneRoutes::find_storage_flow(int from, int to, const std::vector<int>& storage, Bytes bytes, BytesPerSecond limit,
                                   FlowRoute& into)
{
  const int stripes = find_for_storage(from, to, bytes, into);
  const Bytes stripe(into.volume);
  for (const int resource : into.resources)
    if (fabric_.counts(resource, from, to))
      count_storage(resource, from, to, stripe);
  for (int copy = 0; copy < stripes; ++copy) // all stripes load it
    into.resources.insert(into.resources.end(), storage.begin(), storage.end());
  into.bound = std::min(into.bound, limit.value() / stripes);
}

void ZoneRoutes::count_storage(int resource, int /*from*/, int /*to*/, Bytes bytes)
{
  traffic_.count_bytes(resource, bytes);
}

void ZoneRoutes::left(const FlowRoute& way)
{
  FabricRoutes::left(way);
  traffic_.end(way.known_as);
}

void ZoneRoutes::add_jitter(int from, FlowRoute& into)
{
  std::vector<LinkId> links; // without shared media and memories
  std::ranges::copy_if(into.resources, std::back_inserter(links),
                       [this](int resource) { return std::cmp_less(resource, fabric_.links().size()); });
  links.resize(links.size() /
               static_cast<std::size_t>(stripes())); // one of the routes, since their stripes arrive together
  into.latency += traffic_.next_jitter(links, from).value();
}

Seconds ZoneRoutes::start(const Route& route, int from, int to, Bytes bytes)
{
  const ForwardingState::Start started = traffic_.count(route, from, to, sent_of(bytes));
  started_                             = started.message;
  return started.added;
}

} // namespace weft
