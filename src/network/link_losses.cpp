// SPDX-License-Identifier: LGPL-2.1-only
#include "network/link_losses.hpp"

#include "model/noise/random.hpp"

namespace weft {

void LinkLosses::set(int resource, double probability)
{
  const auto at = static_cast<std::size_t>(resource);
  if (at >= probability_.size())
    probability_.resize(at + 1);
  probability_[at] = probability;
}

std::vector<int> LinkLosses::lossy() const
{
  std::vector<int> all;
  for (std::size_t at = 0; at < probability_.size(); ++at)
    if (probability_[at] > 0)
      all.push_back(static_cast<int>(at));
  return all;
}

double LinkLosses::lost(std::span<const int> way) const
{
  double arrives = 1;
  for (const int resource : way)
    arrives *= 1 - probability(resource);
  return 1 - arrives;
}

double LinkLosses::effort(std::span<const int> way) const
{
  const double probability = lost(way);
  return (1 + probability * (model_.go_back / model_.packet)) / (1 - probability);
}

double LinkLosses::draw()
{
  const std::uint64_t number = draws_++;
  return uniform(model_.seed, {static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32U), 0,
                               RandomPurpose::LOSSES});
}

} // namespace weft
