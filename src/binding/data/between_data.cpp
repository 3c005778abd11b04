// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/data/between_data.hpp"

#include "binding/abi/smpi/operations.hpp"

#include <algorithm>
#include <utility>

namespace weft {

BetweenReduction::BetweenReduction(int first_size, int ranks) : first_size_(static_cast<std::size_t>(first_size))
{
  const std::array sizes{first_size_, static_cast<std::size_t>(ranks) - first_size_};
  for (std::size_t side = 0; side < groups_.size(); ++side) {
    groups_[side].values.resize(sizes[side]);
    groups_[side].missing = sizes[side];
  }
}

void BetweenReduction::deliver(const Group& group, const GotPart& part)
{
  if (group.data && part.count > 0)
    copy_elements(group.result.data() + static_cast<std::ptrdiff_t>(part.first) * extent_of(part.type), part.buffer,
                  part.count, part.type);
}

void BetweenReduction::come(int rank, const GivenValues& given, const GotPart& got)
{
  const bool first = std::cmp_less(rank, first_size_);
  Group& own       = groups_[first ? 0 : 1];
  Group& other     = groups_[first ? 1 : 0];
  if (got.buffer && other.missing > 0)
    other.waiting.push_back({got, HeldType(got.type)});
  else if (got.buffer)
    deliver(other, got);
  if (not given.contributes)
    return;
  own.data &= not weft::is_shared(given.buffer);
  if (own.data && given.count > 0)
    own.values[static_cast<std::size_t>(rank) - (first ? 0 : first_size_)] =
        Values(given.buffer, given.count, given.type);
  if (--own.missing > 0)
    return;
  own.data &=
      given.count > 0 && std::ranges::all_of(own.values, [](const Values& its) { return static_cast<bool>(its); });
  for (std::size_t next = 1; own.data && next < own.values.size(); ++next)
    given.operation->apply(own.values[next - 1].data(), own.values[next].data(), &given.count, given.type);
  own.result = std::move(own.values.back());
  own.values.clear();
  for (const WaitingPart& waiting : std::exchange(own.waiting, {}))
    deliver(own, waiting.part);
}

} // namespace weft
