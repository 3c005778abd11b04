// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/platform/fabric_traffic.hpp"

#include <algorithm>
#include <array>
#include <simgrid/s4u.hpp>
#include <utility>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

bool is_link(const Fabric& fabric, int resource)
{
  return std::cmp_less(resource, fabric.links().size());
}

bool any_switch(const Fabric& fabric, bool (ForwardingModel::*has)() const)
{
  return std::ranges::any_of(fabric.switch_models(),
                             [has](const SwitchModel& model) { return (model.forwarding.*has)(); });
}

} // namespace

FabricTraffic::FabricTraffic(const Fabric& fabric)
    : fabric_(fabric), has_caches_(any_switch(fabric, &ForwardingModel::cached)),
      ports_bound_(any_switch(fabric, &ForwardingModel::bounds)), bytes_(fabric.counted(), 0.0)
{
  if (ForwardingState::needed(fabric_))
    forwarding_.emplace(fabric_);
  if (fabric_.noise() && not fabric_.noise()->links.empty()) {
    jitter_.emplace(*fabric_.noise());
    messages_sent_.resize(static_cast<std::size_t>(fabric_.host_count() + fabric_.switch_count()));
  }
}

void FabricTraffic::record_messages(const std::string& file)
{
  messages_.open(file, std::ios::binary);
  sg::Engine::on_simulation_end_cb([this] { messages_.flush(); });
}

ForwardingState::Start FabricTraffic::start(const Route& route, VertexId from, VertexId to)
{
  if (std::max(from, to) >= fabric_.host_count())
    return {};
  if (messages_.is_open()) {
    const std::array<std::int32_t, 2> ends{from, to};
    messages_.write(reinterpret_cast<const char*>(ends.data()), sizeof ends);
  }
  return forwarding_ ? forwarding_->start(route, to, Seconds(sg::Engine::get_clock())) : ForwardingState::Start();
}

Seconds FabricTraffic::next_jitter(std::span<const LinkId> links, VertexId from)
{
  if (links.empty())
    return {};
  return jitter_->on(links, {Crossing::Kind::message, static_cast<std::uint32_t>(from),
                             messages_sent_[static_cast<std::size_t>(from)]++});
}

void FabricTraffic::begin(ForwardingState::MessageNumber message, Bytes bytes, Bytes volume, Seconds latency)
{
  if (forwarding_)
    forwarding_->begin(message, bytes, volume, Seconds(sg::Engine::get_clock()) + latency);
}

void FabricTraffic::end(ForwardingState::MessageNumber message)
{
  if (forwarding_)
    forwarding_->end(message, Seconds(sg::Engine::get_clock()));
}

double FabricTraffic::capacity(int resource, double fixed)
{
  if (not is_link(fabric_, resource) || not forwarding_->bounds(resource))
    return fixed;
  return std::min(fixed, forwarding_->rate(resource, Seconds(sg::Engine::get_clock())));
}

ForwardingState::Start FabricTraffic::count(const Route& route, VertexId from, VertexId to, Bytes bytes)
{
  if (fabric_.sprays())
    for (const LinkId id : route.links)
      count_bytes(fabric_.counted_as(id, from, to), bytes);
  else
    for (const LinkId id : route.links)
      count_bytes(id, bytes);
  return start(route, from, to);
}

void FabricTraffic::count_again(const FlowRoute& way, VertexId from, VertexId to, Bytes bytes)
{
  const bool pools = fabric_.sprays();
  for (const int resource : way.resources)
    if (pools ? fabric_.counts(resource, from, to) : is_link(fabric_, resource))
      count_bytes(resource, bytes);
  if (from == to)
    return;
  start({}, from, to);
  if (forwarding_)
    forwarding_->repeat(way.known_as);
}

} // namespace weft
