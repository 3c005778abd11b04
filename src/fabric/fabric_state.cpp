// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/fabric_state.hpp"

#include <algorithm>
#include <utility>

namespace weft {

/** Returns true if this changes the state. */
bool FabricState::set_up(std::set<int>& down, int what, bool up)
{
  const bool changes = up ? down.erase(what) > 0 : down.insert(what).second;
  if (changes)
    ++epoch_;
  is_down_.resize(fabric_->links().size());
  return changes;
}

void FabricState::update(LinkId link)
{
  const auto end_is_up = [this](VertexId end) {
    return fabric_->topology().is_host(end) || switch_is_up(end - fabric_->host_count());
  };
  const Link& its = fabric_->link(link);
  is_down_[static_cast<std::size_t>(link)] =
      links_down_.contains(link) || not end_is_up(its.from) || not end_is_up(its.to);
}

void FabricState::set_link(LinkId link, bool up)
{
  if (set_up(links_down_, link, up))
    update(link);
}

void FabricState::set_switch(int index, bool up)
{
  if (not set_up(switches_down_, index, up))
    return;
  const VertexId vertex = fabric_->host_count() + index;
  for (LinkId link = 0; std::cmp_less(link, is_down_.size()); ++link)
    if (fabric_->link(link).from == vertex || fabric_->link(link).to == vertex)
      update(link);
}

bool FabricState::is_up(const Route& route) const
{
  return all_up() || std::ranges::all_of(route.links, [this](LinkId link) { return link_is_up(link); });
}

bool FabricState::route(VertexId from, VertexId to, Route& into) const
{
  fabric_->route(from, to, into);
  return is_up(into);
}

} // namespace weft
