// SPDX-License-Identifier: LGPL-2.1-only
#include "simgrid/forwarding.hpp"

#include <optional>
#include <stdexcept>

namespace weft {

ForwardingState::ForwardingState(const Fabric& fabric)
    : fabric_(fabric), cache_of_(fabric.links().size(), -1), counters_(static_cast<std::size_t>(fabric.switch_count()))
{
}

ForwardingCache& ForwardingState::cache_at(LinkId into, int switch_index)
{
  int& cache = cache_of_[static_cast<std::size_t>(into)];
  if (cache < 0) {
    cache = static_cast<int>(caches_.size());
    caches_.emplace_back(fabric_.switch_model(switch_index).forwarding.shape());
  }
  return caches_[static_cast<std::size_t>(cache)];
}

Seconds ForwardingState::look_up(const Route& route, VertexId to)
{
  Seconds added;
  const ForwardingHash* last = nullptr;
  ForwardingAddress address  = 0;
  for (std::size_t hop = 0; hop < route.through.size(); ++hop) {
    const int index            = route.through[hop] - fabric_.host_count();
    const ForwardingHash* hash = fabric_.forwarding_hash(index);
    if (not hash)
      continue;
    if (hash != last)
      address = hash->address(to);
    last                          = hash;
    const ForwardingTag tag       = hash->tag(index, address);
    ForwardingCache& cache        = cache_at(route.links[hop], index);
    const LinkId out              = route.links[hop + 1];
    const std::optional<int> port = cache.lookup(tag);
    if (port && *port != out)
      throw std::logic_error("a forwarding cache misroutes");
    LookupCounters& counters = counters_[static_cast<std::size_t>(index)];
    ++(port ? counters.hits : counters.misses);
    if (port)
      continue;
    cache.fill(tag, out);
    added += fabric_.switch_model(index).forwarding.miss_penalty();
  }
  return added;
}

} // namespace weft
