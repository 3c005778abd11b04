// SPDX-License-Identifier: LGPL-2.1-only
#include "packets/deadlock/virtual_lanes.hpp"

#include "packets/deadlock/link_dependencies.hpp"

#include <algorithm>
#include <utility>

namespace weft {

bool takes_equal_routes(const Fabric& fabric)
{
  return not fabric.routing().is_static() || fabric.packets().balances();
}

bool takes_detours(const Fabric& fabric)
{
  return fabric.topology().has_detours() && not fabric.routing().is_static() &&
         not fabric.routing().policy.starts_with("ecmp");
}

VirtualLanes::VirtualLanes(const Fabric& fabric)
{
  const bool equal = takes_equal_routes(fabric);
  order(LinkDependencies::of(fabric.topology(), fabric.links().size(), equal));
  find_least(fabric.topology(), equal);
  rounds_ = takes_detours(fabric) ? 2 : 1;
}

/** Finds the strongly connected components by Tarjan's algorithm, and the order in which its search finishes links. */
void VirtualLanes::order(const LinkDependencies& dependencies)
{
  const std::size_t links = dependencies.links();
  component_.assign(links, 0);
  order_.assign(links, 0);
  std::vector<int> seen(links, 0); // number of the visit; 0: none
  std::vector<int> low(links, 0);
  std::vector<bool> open(links, false); // its component is not complete
  std::vector<LinkId> stack;
  std::vector<std::pair<LinkId, std::size_t>> path; // with the next dependency to follow
  int visits   = 0;
  int finished = 0;
  int complete = 0;
  for (std::size_t start = 0; start < links; ++start) {
    if (seen[start] == 0)
      path.emplace_back(static_cast<LinkId>(start), 0);
    while (not path.empty()) {
      auto& [link, at] = path.back();
      const auto here  = static_cast<std::size_t>(link);
      if (seen[here] == 0) {
        seen[here] = low[here] = ++visits;
        open[here]             = true;
        stack.push_back(link);
      }
      const std::vector<LinkId>& next = dependencies.onward(link);
      if (at < next.size()) {
        const auto onward = static_cast<std::size_t>(next[at++]);
        if (seen[onward] == 0)
          path.emplace_back(static_cast<LinkId>(onward), 0);
        else if (open[onward])
          low[here] = std::min(low[here], seen[onward]);
        continue;
      }
      order_[here] = -(++finished);
      path.pop_back();
      if (not path.empty()) {
        int& above = low[static_cast<std::size_t>(path.back().first)];
        above      = std::min(above, low[here]);
      }
      if (low[here] != seen[here])
        continue;
      --complete; // components are complete in the reverse of their order
      for (bool last = false; not last;) {
        const auto member  = static_cast<std::size_t>(stack.back());
        last               = member == here;
        component_[member] = complete;
        open[member]       = false;
        stack.pop_back();
      }
    }
  }
}

/** Returns whether a dependency crosses a dateline of its component. */
bool VirtualLanes::crosses(LinkId link, LinkId onward) const
{
  const auto from = static_cast<std::size_t>(link);
  const auto to   = static_cast<std::size_t>(onward);
  return component_[from] == component_[to] && order_[to] <= order_[from];
}

bool VirtualLanes::returns(LinkId link, LinkId onward) const
{
  return component_[static_cast<std::size_t>(onward)] < component_[static_cast<std::size_t>(link)];
}

/** Finds how many lanes the routes between hosts need: the most datelines that one crosses in a component, and one. */
void VirtualLanes::find_least(const Topology& topology, bool equal)
{
  struct Step {
    VertexId at;
    LinkId by; // -1: at its start
    int lane;
  };
  std::vector<Step> open;
  std::vector<Hop> hops;
  std::vector<int> seen(order_.size()); // by link: lane, plus one, with which it was visited last
  for (VertexId to = 0; to < topology.host_count(); ++to) {
    std::ranges::fill(seen, 0);
    for (VertexId host = 0; host < topology.host_count(); ++host)
      if (host != to)
        open.push_back({host, -1, 0});
    while (not open.empty()) {
      const Step step = open.back();
      open.pop_back();
      hops.clear();
      append_hops(topology, equal, step.at, to, hops);
      for (const Hop& hop : hops) {
        int lane = 0;
        if (step.by >= 0 &&
            component_[static_cast<std::size_t>(step.by)] == component_[static_cast<std::size_t>(hop.link)])
          lane = step.lane + (crosses(step.by, hop.link) ? 1 : 0);
        int& before = seen[static_cast<std::size_t>(hop.link)];
        if (lane < before)
          continue;
        before = lane + 1;
        least_ = std::max(least_, before);
        if (hop.to != to)
          open.push_back({hop.to, hop.link, lane});
      }
    }
  }
}

int VirtualLanes::after(int lane, LinkId link, LinkId onward) const
{
  const int next_round = (lane / least_ + 1) * least_;
  if (returns(link, onward))
    return next_round;
  if (crosses(link, onward))
    return lane % least_ + 1 < least_ ? lane + 1 : next_round;
  const bool stays = component_[static_cast<std::size_t>(link)] == component_[static_cast<std::size_t>(onward)];
  return stays ? lane : next_round - least_;
}

std::vector<int> VirtualLanes::lanes(std::span<const LinkId> route) const
{
  std::vector<int> all;
  all.reserve(route.size());
  for (std::size_t at = 0; at < route.size(); ++at)
    all.push_back(at == 0 ? 0 : after(all.back(), route[at - 1], route[at]));
  return all;
}

} // namespace weft
