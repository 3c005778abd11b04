// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/chains.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>

namespace weft {

std::vector<std::vector<int>> cut_into_chains(std::span<const int> roots, int chains)
{
  const std::size_t count = std::min(static_cast<std::size_t>(chains), roots.size());
  std::vector<std::vector<int>> cut;
  std::size_t next = 0;
  for (std::size_t chain = 0; chain < count; ++chain) {
    const std::size_t length = roots.size() / count + (chain < roots.size() % count ? 1 : 0);
    cut.emplace_back(roots.begin() + static_cast<std::ptrdiff_t>(next),
                     roots.begin() + static_cast<std::ptrdiff_t>(next + length));
    next += length;
  }
  return cut;
}

std::vector<std::vector<int>> chain_by_group(std::span<const int> roots, std::span<const int> groups)
{
  std::vector<std::vector<int>> chains;
  std::map<int, std::size_t> chain_of;
  for (std::size_t at = 0; at < roots.size(); ++at) {
    const auto [entry, added] = chain_of.try_emplace(groups[at], chains.size());
    if (added)
      chains.emplace_back();
    chains[entry->second].push_back(roots[at]);
  }
  return chains;
}

std::vector<std::vector<int>> chain_blocks(const MulticastModel& model, const MulticastGroup& group,
                                           std::span<const int> roots)
{
  std::vector<int> blocks(roots.size());
  std::iota(blocks.begin(), blocks.end(), 0);
  if (model.chain_map == "ranks")
    return cut_into_chains(blocks, model.chains);
  const std::vector<int>& group_of = model.chain_map == "racks" ? group.rack_of : group.pod_of;
  std::vector<int> groups;
  groups.reserve(roots.size());
  for (const int root : roots)
    groups.push_back(group_of[static_cast<std::size_t>(root)]);
  return chain_by_group(blocks, groups);
}

} // namespace weft
