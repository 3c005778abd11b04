// SPDX-License-Identifier: LGPL-2.1-only
#include "model/noise/jitter.hpp"

#include "model/noise/random.hpp"

namespace weft {

Seconds Jitter::on(int link, const Crossing& crossing) const
{
  constexpr unsigned LINK_BITS = 28;
  const auto at                = static_cast<std::size_t>(link);
  Seconds sum;
  for (std::uint32_t table = 0; table < noise_->links.size(); ++table) {
    const LinkNoise& its = noise_->links[table];
    if (not its.links[at])
      continue;
    const std::uint32_t place = static_cast<std::uint32_t>(link) | static_cast<std::uint32_t>(crossing.kind)
                                                                       << LINK_BITS;
    sum += drawn(its.distribution, its.jitter, its.shape,
                 uniform(static_cast<std::uint64_t>(noise_->seed),
                         {crossing.number, place, crossing.who, RandomPurpose::JITTER + table}));
  }
  return sum;
}

Seconds Jitter::on(std::span<const int> links, const Crossing& crossing) const
{
  Seconds sum;
  for (const int link : links)
    sum += on(link, crossing);
  return sum;
}

} // namespace weft
