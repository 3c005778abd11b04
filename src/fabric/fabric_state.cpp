// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/fabric_state.hpp"

#include <algorithm>

namespace weft {

void FabricState::set_up(std::set<int>& down, int what, bool up)
{
  const bool changes = up ? down.erase(what) > 0 : down.insert(what).second;
  if (changes)
    ++epoch_;
}

void FabricState::set_link(LinkId link, bool up)
{
  set_up(links_down_, link, up);
}

void FabricState::set_switch(int index, bool up)
{
  set_up(switches_down_, index, up);
}

bool FabricState::link_is_up(LinkId link) const
{
  const auto end_is_up = [this](VertexId end) {
    return fabric_->topology().is_host(end) || switch_is_up(end - fabric_->host_count());
  };
  return all_up() ||
         (not links_down_.contains(link) && end_is_up(fabric_->link(link).from) && end_is_up(fabric_->link(link).to));
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
