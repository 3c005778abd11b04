// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/execution/block_runs.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace weft {

std::int64_t count_chunks(const std::vector<BlockRun>& runs)
{
  std::int64_t count = 0;
  for (const BlockRun& run : runs)
    count += run.chunks.count;
  return count;
}

std::vector<BlockRun> interleaved_without(const std::vector<BlockRun>& runs, const std::vector<std::int64_t>& lost)
{
  std::map<int, std::int64_t> all; // chunks of each block that arrive
  for (const BlockRun& run : runs)
    all[run.block] += run.chunks.count;
  std::map<int, std::int64_t> come;
  std::vector<std::tuple<double, int, std::int64_t>> order; // relative time of arrival, block, chunk
  for (const BlockRun& run : runs)
    for (std::int64_t chunk = run.chunks.first; chunk < run.chunks.first + run.chunks.count; ++chunk)
      order.emplace_back((static_cast<double>(come[run.block]++) + 0.5) / static_cast<double>(all[run.block]),
                         run.block, chunk);
  std::ranges::sort(order);
  std::map<int, std::vector<std::int64_t>> left;
  auto next = lost.begin();
  for (std::size_t number = 0; number < order.size(); ++number) {
    if (next != lost.end() && std::cmp_equal(*next, number))
      ++next;
    else
      left[std::get<1>(order[number])].push_back(std::get<2>(order[number]));
  }
  std::vector<BlockRun> result;
  for (auto& [block, chunks] : left)
    for (const ChunkRun& run : runs_of(std::move(chunks)))
      result.push_back({block, run});
  return result;
}

} // namespace weft
