// SPDX-License-Identifier: LGPL-2.1-only
#include "faults/spray_pools.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

namespace weft {

SprayPools::SprayPools(FlowNetwork& flows, const FabricState& actual, const FabricState& known)
    : flows_(flows), actual_(actual), known_(known)
{
  const Fabric& fabric = actual.fabric();
  if (not fabric.sprays())
    return;
  links_.resize(fabric.shared().size());
  off_.resize(links_.size());
  loss_.resize(fabric.links().size());
  factors_.assign(fabric.links().size(), 1);
  for (LinkId link = 0; std::cmp_less(link, fabric.links().size()); ++link)
    if (const std::optional<std::size_t> pool = fabric.shared_by(link))
      links_[*pool].push_back(link);
}

/** Returns the fraction of the packets over a link that it loses. */
double SprayPools::loss(LinkId link) const
{
  if (actual_.link_is_up(link))
    return loss_[static_cast<std::size_t>(link)];
  const Fabric& fabric = actual_.fabric();
  const int from       = fabric.link(link).from - fabric.host_count();
  return from >= 0 && not actual_.switch_is_up(from) ? 0 : 1;
}

void SprayPools::update_pool(std::size_t pool)
{
  const std::vector<LinkId>& all = links_[pool];
  double lost                    = 0;
  double used                    = 0; // number of links in use
  double slowest                 = 1;
  for (const LinkId link : all) {
    if (not known_.link_is_up(link))
      continue;
    ++used;
    lost += loss(link);
    slowest = std::min(slowest, factors_[static_cast<std::size_t>(link)]);
  }
  const bool off = lost == used; // also if no link is in use
  flows_.set_loss(resource(pool), off ? 0 : lost / used);
  if (not off)
    flows_.set_capacity(resource(pool), actual_.fabric().shared()[pool].bandwidth.value() * slowest * used /
                                            static_cast<double>(all.size()));
  if (off == off_[pool])
    return;
  off_[pool] = off;
  if (off)
    flows_.turn_off({resource(pool)});
  else
    flows_.turn_on({resource(pool)});
}

void SprayPools::update(const std::vector<LinkId>& links)
{
  if (links_.empty())
    return;
  std::set<std::size_t> pools;
  for (const LinkId link : links)
    if (const std::optional<std::size_t> pool = actual_.fabric().shared_by(link))
      pools.insert(*pool);
  for (const std::size_t pool : pools)
    update_pool(pool);
}

void SprayPools::set_loss(LinkId link, double probability)
{
  if (links_.empty())
    return;
  loss_[static_cast<std::size_t>(link)] = probability;
  update(std::vector<LinkId>{link});
}

void SprayPools::set_factor(LinkId link, double factor)
{
  if (links_.empty())
    return;
  factors_[static_cast<std::size_t>(link)] = factor;
  update(std::vector<LinkId>{link});
}

} // namespace weft
