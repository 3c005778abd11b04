// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/reach.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft {
namespace {

double wire_of(const std::vector<BlockReach::Crossing>& blocks)
{
  double sum = 0;
  for (const BlockReach::Crossing& its : blocks)
    sum += its.wire;
  return sum;
}

/** Returns the part x of each block, or what is sent of it, that has crossed a link after @p bytes. */
double part_after(double bytes, std::vector<BlockReach::Crossing> blocks)
{
  std::ranges::sort(blocks, {}, &BlockReach::Crossing::part);
  double rest = wire_of(blocks); // of the blocks that still advance
  for (const BlockReach::Crossing& its : blocks) {
    if (bytes <= its.part * rest)
      break;
    bytes -= its.part * its.wire;
    rest -= its.wire;
  }
  return rest > 0 ? std::clamp(bytes / rest, 0.0, 1.0) : 1;
}

} // namespace

std::int64_t whole_chunks(double part, std::int64_t chunks)
{
  constexpr double ROUNDING = 1e-6;
  return static_cast<std::int64_t>(std::floor(part * static_cast<double>(chunks) + ROUNDING));
}

BlockReach::BlockReach(const MulticastModel& model, const MulticastPlan& plan, const std::vector<Bytes>& blocks,
                       int trees)
    : model_(model), plan_(plan), blocks_(blocks), trees_(trees), stops_(plan.flows.size(), 1.0),
      stopped_(plan.flows.size())
{
}

ChunkRun BlockReach::share(std::size_t root, int tree) const
{
  return share_of_tree(chunks_of(model_, blocks_[root]), tree, trees_);
}

std::vector<BlockReach::Crossing> BlockReach::fed(std::size_t flow, const Progress& now) const
{
  const MulticastFlow& its = plan_.flows[flow];
  std::vector<Crossing> blocks;
  for (std::size_t root = 0; its.after.empty() && root < plan_.leaving.size(); ++root)
    if (std::ranges::find(plan_.leaving[root], flow) != plan_.leaving[root].end())
      blocks.push_back({root, model_.wire(bytes_of(model_, blocks_[root], share(root, its.tree))).value(), 1});
  for (const std::size_t feeding : its.after) {
    const double most = now ? std::min(stops_[feeding], now(feeding)) : stops_[feeding];
    for (Crossing crossing : fed(feeding)) {
      crossing.part = std::min(crossing.part, most);
      blocks.push_back(crossing);
    }
  }
  return blocks;
}

void BlockReach::stop(std::size_t flow, double carried)
{
  const std::vector<Crossing> blocks = fed(flow);
  stops_[flow]                       = part_after(carried * wire_of(blocks), blocks);
  stopped_[flow]                     = true;
  any_stopped_                       = true;
}

double BlockReach::total(std::size_t flow) const
{
  if (not any_stopped_)
    return 1;
  const std::vector<Crossing> blocks = fed(flow);
  double carried                     = 0;
  for (const Crossing& its : blocks)
    carried += its.wire * std::min(its.part, stops_[flow]);
  return carried / wire_of(blocks);
}

std::int64_t BlockReach::chunks(std::size_t flow) const
{
  std::int64_t sum = 0;
  for (const Crossing& its : fed(flow))
    sum += share(its.root, plan_.flows[flow].tree).count;
  return sum;
}

std::vector<BlockReach::Loss> BlockReach::not_carried(std::size_t flow) const
{
  std::vector<Crossing> blocks = fed(flow);
  for (Crossing& its : blocks)
    its.part = std::min(its.part, stops_[flow]);
  return not_fed(flow, blocks);
}

std::vector<BlockReach::Loss> BlockReach::not_fed(std::size_t flow, const std::vector<Crossing>& fed) const
{
  std::vector<Loss> losses;
  for (const Crossing& its : fed) {
    ChunkRun run            = share(its.root, plan_.flows[flow].tree);
    const std::int64_t came = whole_chunks(its.part, run.count);
    run.first += came;
    run.count -= came;
    if (run.count > 0)
      losses.push_back({its.root, run});
  }
  return losses;
}

} // namespace weft
