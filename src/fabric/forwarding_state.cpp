// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/forwarding_state.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace weft {

ForwardingState::ForwardingState(const Fabric& fabric)
    : fabric_(fabric), port_of_(fabric.links().size(), -1), counters_(static_cast<std::size_t>(fabric.switch_count()))
{
  for (int index = 0; index < fabric.switch_count(); ++index)
    tagging_of_.push_back(tagging_at(index));
}

/** Determines which tags are never evicted (KEPT). Consecutive tags from zero are kept if the cache has an entry for
 *  each of them. Tags of individual hosts are kept if their set has room for every tag that maps to it.
 */
ForwardingState::Tagging ForwardingState::tagging(const ForwardingHash* hash, const CacheShape& shape, int hosts)
{
  Tagging result{hash, shape, false, {}};
  if (not hash)
    return result;
  if (const std::optional<int> tags = hash->tags()) {
    result.keeps = *tags <= shape.entries;
    return result;
  }
  const auto sets = static_cast<ForwardingTag>(shape.entries / shape.ways);
  std::vector<int> in_set(sets);
  for (VertexId host = 0; host < hosts; ++host) {
    result.by_host.push_back(hash->tag(0, hash->address(host)));
    ++in_set[result.by_host.back() % sets];
  }
  ForwardingTag kept = 0;
  for (ForwardingTag& tag : result.by_host)
    if (in_set[tag % sets] <= shape.ways)
      tag = KEPT | kept++;
  return result;
}

int ForwardingState::tagging_at(int switch_index)
{
  const ForwardingHash* hash = fabric_.forwarding_hash(switch_index);
  const CacheShape shape     = fabric_.switch_model(switch_index).forwarding.shape();
  const auto same            = [&](const Tagging& one) {
    return one.hash == hash && one.shape.entries == shape.entries && one.shape.ways == shape.ways;
  };
  const auto found = std::ranges::find_if(taggings_, same);
  const auto which = static_cast<int>(found - taggings_.begin());
  if (found == taggings_.end())
    taggings_.push_back(tagging(hash, shape, fabric_.host_count()));
  return which;
}

bool ForwardingState::needed(const Fabric& fabric)
{
  return std::ranges::any_of(fabric.switch_models(), [](const SwitchModel& model) {
    return model.forwarding.cached() || model.forwarding.bounds();
  });
}

int ForwardingState::port_number_after(LinkId into)
{
  int& number = port_of_[static_cast<std::size_t>(into)];
  if (number < 0) {
    number = static_cast<int>(ports_.size());
    ports_.emplace_back(fabric_.switch_model(switch_after(into)).forwarding);
  }
  return number;
}

/** Collects the lookups of all hops and prefetches their sets: the caches are too large for the processor's, so lookups
 * would wait for memory one at a time.
 */
void ForwardingState::expect(const Route& route, VertexId to)
{
  const ForwardingHash* last = nullptr;
  ForwardingAddress address  = 0;
  hops_.clear();
  for (std::size_t hop = 0; hop < route.through.size(); ++hop) {
    const int index        = route.through[hop] - fabric_.host_count();
    const Tagging& tagging = taggings_[static_cast<std::size_t>(tagging_of_[static_cast<std::size_t>(index)])];
    Hop its{index, NO_PORT, 0};
    if (tagging.hash) {
      if (tagging.by_host.empty()) {
        if (tagging.hash != last)
          address = tagging.hash->address(to);
        last = tagging.hash;
      }
      its.tag  = tag_of(tagging, index, to, address);
      its.port = port_number_after(route.links[hop]);
      port(its.port).expect(its.tag);
    }
    hops_.push_back(its);
  }
  for (const Hop& its : hops_)
    if (its.port != NO_PORT)
      port(its.port).expect_entries(its.tag);
}

ForwardingTag ForwardingState::tag_of(const Tagging& tagging, int switch_index, VertexId to, ForwardingAddress address)
{
  if (not tagging.by_host.empty())
    return tagging.by_host[static_cast<std::size_t>(to)];
  const ForwardingTag tag = tagging.hash->tag(switch_index, address);
  if (known_ && not known_->all_up() && diverges(*tagging.hash, switch_index, tag))
    return UNCACHED;
  return tag | (tagging.keeps ? KEPT : 0);
}

bool ForwardingState::diverges(const ForwardingHash& hash, int switch_index, ForwardingTag tag)
{
  Divergence& its = divergences_[static_cast<std::size_t>(switch_index)];
  if (its.epoch != known_->epoch()) {
    its.epoch = known_->epoch();
    find_divergence(hash, switch_index, its);
  }
  return its.diverges[tag];
}

void ForwardingState::find_divergence(const ForwardingHash& hash, int switch_index, Divergence& its)
{
  constexpr LinkId NONE_YET = -1;
  const auto tags           = static_cast<std::size_t>(hash.tags().value());
  its.diverges.assign(tags, false);
  std::vector<LinkId> port_of(tags, NONE_YET);
  for (VertexId host = 0; host < fabric_.host_count(); ++host) {
    const std::optional<LinkId> out = rerouting_->next(fabric_.host_count() + switch_index, host);
    if (not out)
      continue;
    const auto tag = hash.tag(switch_index, hash.address(host));
    if (port_of[tag] == NONE_YET)
      port_of[tag] = *out;
    else if (port_of[tag] != *out)
      its.diverges[tag] = true;
  }
}

std::vector<LinkId> ForwardingState::change_routes(const FabricState& known)
{
  if (known_ != &known) {
    known_ = &known;
    rerouting_.emplace(known);
    divergences_.resize(static_cast<std::size_t>(fabric_.switch_count()));
  }
  for (ForwardingPort& port : ports_)
    port.flush();
  std::vector<LinkId> limited;
  for (auto& [number, message] : messages_)
    for (Lookup& lookup : message.lookups) {
      redirect(number, message, lookup);
      limited.push_back(lookup.into);
    }
  std::ranges::sort(limited);
  limited.erase(std::ranges::unique(limited).begin(), limited.end());
  return limited;
}

/** Redirects the lookups of a message in flight along a switch's new routes. */
void ForwardingState::redirect(MessageNumber number, const Message& message, Lookup& lookup)
{
  const int index        = switch_after(lookup.into);
  const Tagging& tagging = taggings_[static_cast<std::size_t>(tagging_of_[static_cast<std::size_t>(index)])];
  if (not tagging.hash)
    return;
  const std::optional<LinkId> out = rerouting_->next(fabric_.host_count() + index, message.to);
  lookup.tag = out ? tag_of(tagging, index, message.to, tagging.hash->address(message.to)) : UNCACHED;
  lookup.out = out ? port_of(*out) : lookup.out;
  if (message.begun)
    port_after(lookup.into).redirect(number, lookup.tag, lookup.out);
}

ForwardingState::Start ForwardingState::start(const Route& route, VertexId to, Seconds now)
{
  Start started;
  Message message;
  message.to = to;
  expect(route, to);
  for (std::size_t hop = 0; hop < hops_.size(); ++hop) {
    const auto [index, into, tag] = hops_[hop];
    const ForwardingModel& model  = fabric_.switch_model(index).forwarding;
    Lookup lookup{route.links[hop], tag, port_of(route.links[hop + 1]), true};
    if (into != NO_PORT) {
      lookup.hit               = port(into).look_up(tag, lookup.out, now);
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
