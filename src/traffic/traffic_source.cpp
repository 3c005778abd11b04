// SPDX-License-Identifier: LGPL-2.1-only
#include "traffic/traffic_source.hpp"

#include "model/noise/random.hpp"

#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace weft {
namespace {

/** Purposes of random numbers for a message, or for the pattern itself. */
enum Draw : std::uint32_t { GAP, DESTINATION, HEAT, CYCLE };

double draw(std::uint64_t seed, std::size_t sender, std::uint32_t number, Draw what)
{
  return uniform(seed, {static_cast<std::uint32_t>(sender), number, what, RandomPurpose::TRAFFIC});
}

std::size_t below(double drawn, std::size_t count)
{
  return static_cast<std::size_t>(drawn * static_cast<double>(count));
}

/** Returns the successor of each position in a random cycle through all of them (S. Sattolo: An algorithm to generate
 * a random cyclic permutation, Information Processing Letters 22, 1986). */
std::vector<std::size_t> random_cycle(std::size_t count, std::uint64_t seed)
{
  std::vector<std::size_t> next(count);
  std::iota(next.begin(), next.end(), std::size_t{0});
  for (std::size_t last = count - 1; last > 0; --last)
    std::swap(next[last], next[below(draw(seed, last, 0, CYCLE), last)]);
  return next;
}

} // namespace

TrafficSource::TrafficSource(TrafficLoad load) : load_(std::move(load))
{
  const bool has_targets = load_.pattern == TrafficPattern::incast || load_.pattern == TrafficPattern::hot_spot;
  if (load_.hosts.size() < (load_.pattern == TrafficPattern::incast ? 1U : 2U) ||
      (has_targets && load_.targets.empty()))
    throw std::logic_error("background traffic without destinations");
  if (load_.pattern == TrafficPattern::permutation)
    partner_ = random_cycle(load_.hosts.size(), load_.seed);
}

Seconds TrafficSource::gap(std::size_t sender, std::uint32_t number) const
{
  return Seconds(-std::log1p(-draw(load_.seed, sender, number, GAP)) * load_.bytes.value() / load_.rate.value());
}

VertexId TrafficSource::destination(std::size_t sender, std::uint32_t number) const
{
  const VertexId from = load_.hosts[sender];
  const bool is_hot = load_.pattern == TrafficPattern::incast ||
                      (load_.pattern == TrafficPattern::hot_spot && draw(load_.seed, sender, number, HEAT) < load_.hot);
  if (is_hot) {
    const VertexId target = load_.targets[(sender + number) % load_.targets.size()];
    if (target != from)
      return target;
  }
  if (load_.pattern == TrafficPattern::permutation)
    return load_.hosts[partner_[sender]];
  const std::size_t other = below(draw(load_.seed, sender, number, DESTINATION), senders() - 1);
  return load_.hosts[other < sender ? other : other + 1];
}

} // namespace weft
