// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/forwarding_state.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace weft {

ForwardingState::ForwardingState(const Fabric& fabric)
    : fabric_(fabric), port_of_(fabric.links().size(), -1), counters_(static_cast<std::size_t>(fabric.switch_count()))
{
}

bool ForwardingState::needed(const Fabric& fabric)
{
  return std::ranges::any_of(fabric.switch_models(), [](const SwitchModel& model) {
    return model.forwarding.cached() || model.forwarding.bounds();
  });
}

ForwardingPort& ForwardingState::port_after(LinkId into)
{
  int& port = port_of_[static_cast<std::size_t>(into)];
  if (port < 0) {
    port = static_cast<int>(ports_.size());
    ports_.emplace_back(fabric_.switch_model(switch_after(into)).forwarding);
  }
  return ports_[static_cast<std::size_t>(port)];
}

ForwardingState::Lookup ForwardingState::look_up(LinkId into, LinkId out, ForwardingTag tag, Seconds now)
{
  const bool hit = port_after(into).look_up(tag, out, now);
  return {into, tag, out, hit};
}

ForwardingState::Start ForwardingState::start(const Route& route, VertexId to, Seconds now)
{
  Start started;
  Message message;
  const ForwardingHash* last = nullptr;
  ForwardingAddress address  = 0;
  for (std::size_t hop = 0; hop < route.through.size(); ++hop) {
    const int index              = route.through[hop] - fabric_.host_count();
    const ForwardingModel& model = fabric_.switch_model(index).forwarding;
    const ForwardingHash* hash   = fabric_.forwarding_hash(index);
    Lookup lookup{route.links[hop], 0, route.links[hop + 1], true};
    if (hash) {
      if (hash != last)
        address = hash->address(to);
      last                     = hash;
      lookup                   = look_up(lookup.into, lookup.out, hash->tag(index, address), now);
      LookupCounters& counters = counters_[static_cast<std::size_t>(index)];
      ++(lookup.hit ? counters.hits : counters.misses);
      if (not lookup.hit)
        started.added += model.miss_penalty();
    }
    if (model.bounds())
      message.lookups.push_back(lookup);
  }
  if (not message.lookups.empty()) {
    started.message = ++last_;
    messages_.emplace(started.message, std::move(message));
  }
  return started;
}

void ForwardingState::begin(MessageNumber number, Bytes bytes, Bytes volume, Seconds begins)
{
  if (number == NONE)
    return;
  Message& message = messages_.at(number);
  message.begun    = true;
  for (const Lookup& one : message.lookups)
    port_after(one.into).enter(number, one.tag, one.out, one.hit, bytes, volume, begins);
}

void ForwardingState::repeat(MessageNumber number)
{
  if (number == NONE)
    return;
  for (const Lookup& one : messages_.at(number).lookups)
    port_after(one.into).repeat(number);
}

void ForwardingState::end(MessageNumber number, Seconds now)
{
  const auto found = messages_.find(number);
  if (found == messages_.end())
    return;
  if (found->second.begun)
    for (const Lookup& one : found->second.lookups)
      port_after(one.into).leave(number, now, counters_[static_cast<std::size_t>(switch_after(one.into))]);
  messages_.erase(found);
}

bool ForwardingState::bounds(LinkId into) const
{
  const VertexId to = fabric_.link(into).to;
  return not fabric_.topology().is_host(to) && fabric_.model_at(to).forwarding.bounds();
}

double ForwardingState::rate(LinkId into, Seconds now)
{
  return port_after(into).rate(now);
}

std::optional<LookupCounters> ForwardingState::counters(int switch_index) const
{
  if (not fabric_.forwarding_hash(switch_index))
    return std::nullopt;
  return counters_[static_cast<std::size_t>(switch_index)];
}

} // namespace weft
