// SPDX-License-Identifier: LGPL-2.1-only
#include "packets/load_balancer.hpp"

#include "model/noise/random.hpp"

#include <algorithm>
#include <utility>

namespace weft {

LoadBalancer::LoadBalancer(const Fabric& fabric)
    : topology_(fabric.topology()), random_(fabric.packets().load_balancing == LoadBalancing::random),
      seed_(static_cast<std::uint32_t>(fabric.noise() ? fabric.noise()->seed : 1))
{
  if (not fabric.packets().balances())
    return;
  for (std::size_t link = 0; link < fabric.links().size(); ++link) // else all inputs would begin with the same output
    turns_.push_back(philox({static_cast<std::uint32_t>(link), 0, 0, RandomPurpose::SPRAY}, {seed_, 0})[0]);
}

std::size_t LoadBalancer::draw(LinkId link, std::uint32_t turn, std::size_t count) const
{
  const double part = uniform(seed_, {static_cast<std::uint32_t>(link), turn, 1, RandomPurpose::SPRAY});
  return static_cast<std::size_t>(part * static_cast<double>(count));
}

void LoadBalancer::set_down(std::vector<bool> down)
{
  down_ = std::move(down);
  if (std::ranges::find(down_, true) == down_.end())
    down_.clear();
  reaches_.clear();
}

bool LoadBalancer::reaches(VertexId at, VertexId to)
{
  if (down_.empty() || at == to)
    return true;
  constexpr unsigned HALF = 32;
  const std::uint64_t key = static_cast<std::uint64_t>(at) << HALF | static_cast<std::uint32_t>(to);
  if (const auto known = reaches_.find(key); known != reaches_.end())
    return known->second;
  std::vector<Hop> hops;
  topology_.equal_hops(at, to, hops);
  const bool any = std::ranges::any_of(
      hops, [&](const Hop& hop) { return not down_[static_cast<std::size_t>(hop.link)] && reaches(hop.to, to); });
  reaches_.emplace(key, any);
  return any;
}

int LoadBalancer::distance(VertexId at, VertexId to) const
{
  int links = 0;
  for (; at != to; ++links)
    at = topology_.next_hop(at, to).to;
  return links;
}

std::span<const Hop> LoadBalancer::next_hops(VertexId at, VertexId to)
{
  hops_.clear();
  topology_.equal_hops(at, to, hops_);
  if (not down_.empty())
    std::erase_if(hops_,
                  [&](const Hop& hop) { return down_[static_cast<std::size_t>(hop.link)] || not reaches(hop.to, to); });
  return hops_;
}

} // namespace weft
