// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/drops.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace weft {
namespace {

/** SplitMix64 (G. L. Steele, D. Lea, C. H. Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). */
class Random {
  std::uint64_t state_ = 0;

  std::uint64_t next()
  {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z               = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z               = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

public:
  /** Seeds the sequence by a list of numbers. */
  Random(std::initializer_list<std::int64_t> numbers)
  {
    for (const std::int64_t number : numbers) {
      state_ ^= static_cast<std::uint64_t>(number);
      state_ = next();
    }
  }
  /** Returns a number in [0, 1). */
  double uniform() { return std::ldexp(static_cast<double>(next() >> 11U), -53); }
};

/** Appends to @p lost the chunks of @p range that @p rule drops at one place. */
void draw(const DropRule& rule, ChunkRun range, Random random, std::vector<std::int64_t>& lost)
{
  const std::int64_t end = range.first + range.count;
  if (not rule.chunks.empty()) {
    for (const std::int64_t chunk : rule.chunks)
      if (range.first <= chunk && chunk < end && random.uniform() < rule.probability)
        lost.push_back(chunk);
    return;
  }
  if (rule.probability <= 0)
    return;
  // The distance between two dropped chunks has a geometric distribution.
  const double scale = std::log1p(-rule.probability);
  for (std::int64_t chunk = range.first;; ++chunk) {
    const double gap = rule.probability < 1 ? std::floor(std::log1p(-random.uniform()) / scale) : 0;
    if (gap >= static_cast<double>(end - chunk))
      return;
    chunk += static_cast<std::int64_t>(gap);
    lost.push_back(chunk);
  }
}

bool holds(int wanted, std::int64_t found)
{
  return wanted < 0 || wanted == found;
}

} // namespace

struct Drops::Losses {
  std::vector<std::vector<std::int64_t>> by_rank;

  void add(std::size_t rank, const std::vector<std::int64_t>& lost)
  {
    by_rank[rank].insert(by_rank[rank].end(), lost.begin(), lost.end());
  }
};

void Drops::at_receivers(std::size_t rule, const MulticastTrip& trip, Losses& losses) const
{
  const DropRule& its = fabric_.multicast().drops[rule];
  for (int rank = 0; rank < group_.ranks(); ++rank)
    if (rank != trip.root && holds(its.receiver, rank))
      draw(its, {0, trip.chunks},
           {fabric_.multicast().drop_seed, static_cast<std::int64_t>(rule), trip.communicator, trip.call, trip.root,
            rank},
           losses.by_rank[static_cast<std::size_t>(rank)]);
}

void Drops::on_links(const DropRule& its, std::int64_t number_of_rule, const MulticastTrip& trip, Losses& losses) const
{
  const auto root_host = static_cast<std::size_t>(group_.member_of[static_cast<std::size_t>(trip.root)]);
  for (std::size_t number = 0; number < group_.trees.size(); ++number) {
    const ReductionTree& tree = group_.trees[number];
    const ChunkRun share = share_of_tree(trip.chunks, static_cast<int>(number), static_cast<int>(group_.trees.size()));
    for (const TreeSwitch& node : tree.switches)
      for (const TreeLink& link : node.links) {
        const bool up   = link.below.contains(tree.place[root_host]);
        const LinkId id = up ? link.up : reverse(link.up);
        if (not its.hits(fabric_.link(id).name))
          continue;
        std::vector<std::int64_t> lost;
        draw(its, share, {fabric_.multicast().drop_seed, number_of_rule, trip.communicator, trip.call, trip.root, id},
             lost);
        for (std::size_t rank = 0; rank < losses.by_rank.size(); ++rank) {
          const auto member = static_cast<std::size_t>(group_.member_of[rank]);
          const bool behind = link.below.contains(tree.place[member]) != up;
          if (behind && member != root_host && holds(its.receiver, static_cast<std::int64_t>(rank)))
            losses.add(rank, lost);
        }
      }
  }
}

std::vector<std::vector<ChunkRun>> Drops::of(const MulticastTrip& trip) const
{
  const std::vector<DropRule>& rules = fabric_.multicast().drops;
  if (rules.empty() && more_.rules.empty())
    return {};
  Losses losses{std::vector<std::vector<std::int64_t>>(static_cast<std::size_t>(group_.ranks()))};
  for (std::size_t rule = 0; rule < rules.size(); ++rule) {
    if (not holds(rules[rule].call, trip.call) || not holds(rules[rule].root, trip.root))
      continue;
    if (rules[rule].link.empty())
      at_receivers(rule, trip, losses);
    else
      on_links(rules[rule], static_cast<std::int64_t>(rule), trip, losses);
  }
  for (const DropRule& rule : more_.rules)
    on_links(rule, static_cast<std::int64_t>(rules.size()) + more_.seed, trip, losses);
  std::vector<std::vector<ChunkRun>> by_rank;
  by_rank.reserve(losses.by_rank.size());
  for (std::vector<std::int64_t>& lost : losses.by_rank)
    by_rank.push_back(runs_of(std::move(lost)));
  return by_rank;
}

} // namespace weft
