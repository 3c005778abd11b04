// SPDX-License-Identifier: LGPL-2.1-only
#include "network/update_schedule.hpp"

#include <algorithm>
#include <utility>

namespace weft {

void UpdateSchedule::note_change(double now)
{
  if (changes_++ == 0) {
    first_change_ = now;
    change_sum_   = 0;
  }
  change_sum_ += now;
}

std::optional<double> UpdateSchedule::to_put_on_agenda()
{
  return std::exchange(due_, next_) == next_ ? std::nullopt : std::optional(next_);
}

std::optional<double> UpdateSchedule::begin_update(double now)
{
  const std::size_t changes = std::exchange(changes_, 0);
  if (changes == 0 || Agenda::same(first_change_, now))
    return {};
  return change_sum_ / static_cast<double>(changes);
}

double UpdateSchedule::end_update(double now, double duration)
{
  constexpr double FRACTION = 1.0 / 64;
  double wait               = resolution_.time.value();
  if (resolution_.automatic)
    wait = std::max(wait, FRACTION * duration);
  next_ = now + wait;
  return wait;
}

} // namespace weft
