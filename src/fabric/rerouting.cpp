// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/rerouting.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace weft {

void Rerouting::list_links()
{
  const Fabric& fabric      = state_.fabric();
  const Topology& topology  = fabric.topology();
  const auto vertices       = static_cast<std::size_t>(fabric.host_count() + fabric.switch_count());
  const auto leads_onwards  = [&topology](const Link& link) { return not topology.is_host(link.to); };
  constexpr std::size_t ALL = 1U << 22U; // limit for all trees together, in steps: 32 MiB
  first_.assign(vertices + 1, 0);
  for (const Link& link : fabric.links())
    first_[static_cast<std::size_t>(link.from) + 1] += leads_onwards(link) ? 1 : 0;
  for (std::size_t vertex = 0; vertex < vertices; ++vertex)
    first_[vertex + 1] += first_[vertex];
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  links_.resize(first_.back());
  for (LinkId id = 0; std::cmp_less(id, fabric.links().size()); ++id)
    if (leads_onwards(fabric.link(id)))
      links_[next[static_cast<std::size_t>(fabric.link(id).from)]++] = id;
  trees_.resize(std::clamp(ALL / std::max(std::size_t{1}, static_cast<std::size_t>(fabric.switch_count())),
                           std::size_t{1}, vertices));
}

inline const Rerouting::Step& Rerouting::step_of(const Tree& its, VertexId at) const
{
  return its.steps[static_cast<std::size_t>(at - state_.fabric().host_count())];
}

/** Searches the switches breadth first, from the destination. */
void Rerouting::search(Tree& its)
{
  const Fabric& fabric = state_.fabric();
  const int hosts      = fabric.host_count();
  its.steps.assign(static_cast<std::size_t>(fabric.switch_count()), {});
  queue_.assign(1, its.to);
  for (std::size_t at = 0; at < queue_.size(); ++at) {
    const VertexId here     = queue_[at];
    const int distance      = here == its.to ? 0 : its.steps[static_cast<std::size_t>(here - hosts)].distance;
    const std::size_t first = first_[static_cast<std::size_t>(here)];
    const std::size_t count = first_[static_cast<std::size_t>(here) + 1] - first;
    for (std::size_t place = 0; place < count; ++place) {
      const LinkId link   = links_[first + (place + static_cast<std::size_t>(its.to)) % count];
      const VertexId next = fabric.link(link).to;
      Step& step          = its.steps[static_cast<std::size_t>(next - hosts)];
      if (next == its.to || step.link != NO_LINK || not state_.link_is_up(reverse(link)))
        continue;
      step = {reverse(link), distance + 1};
      queue_.push_back(next);
    }
  }
}

const Rerouting::Tree& Rerouting::tree(VertexId to)
{
  if (first_.empty())
    list_links();
  Tree& its = trees_[static_cast<std::size_t>(to) % trees_.size()];
  if (its.to != to || its.epoch != state_.epoch()) {
    its.to    = to;
    its.epoch = state_.epoch();
    search(its);
  }
  return its;
}

/** Returns the first link of a host's shortest path to the destination. */
LinkId Rerouting::first_link(const Tree& its, VertexId host) const
{
  const Fabric& fabric    = state_.fabric();
  const std::size_t first = first_[static_cast<std::size_t>(host)];
  const std::size_t count = first_[static_cast<std::size_t>(host) + 1] - first;
  LinkId best             = NO_LINK;
  int least               = std::numeric_limits<int>::max();
  for (std::size_t place = 0; place < count; ++place) {
    const LinkId link   = links_[first + (place + static_cast<std::size_t>(its.to)) % count];
    const VertexId next = fabric.link(link).to;
    if (not state_.link_is_up(link) || (next != its.to && step_of(its, next).link == NO_LINK))
      continue;
    const int distance = next == its.to ? 0 : step_of(its, next).distance;
    if (distance < least) {
      best  = link;
      least = distance;
    }
  }
  return best;
}

/** Stores the static route in usual_; returns whether packets follow it. */
bool Rerouting::follow_usual(VertexId at, VertexId to)
{
  if (not state_.fabric().topology().is_host(to)) // topologies define routes from a switch to hosts only
    return false;
  usual_.clear();
  return state_.route(at, to, usual_);
}

std::optional<LinkId> Rerouting::next(VertexId at, VertexId to)
{
  if (follow_usual(at, to))
    return usual_.links.front();
  const Tree& its   = tree(to);
  const LinkId link = state_.fabric().topology().is_host(at) ? first_link(its, at) : step_of(its, at).link;
  return link == NO_LINK ? std::nullopt : std::optional(link);
}

bool Rerouting::find(VertexId from, VertexId to, Route& route)
{
  found_.clear();
  for (VertexId at = from; at != to;) {
    const std::optional<LinkId> link = next(at, to);
    if (not link)
      return false;
    found_.links.push_back(*link);
    at = state_.fabric().link(*link).to;
    if (at != to && not state_.fabric().topology().is_host(at))
      found_.through.push_back(at);
  }
  route = found_;
  return true;
}

} // namespace weft
