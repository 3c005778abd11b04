// SPDX-License-Identifier: LGPL-2.1-only
#include "packets/packet_port.hpp"

namespace weft {

void ReturningCredits::add(double time, double bytes)
{
  if (not any()) {
    all_.clear();
    first_ = 0;
  } else if (first_ > all_.size() / 2) {
    all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  auto place = all_.end(); // nearly always
  while (place != all_.begin() + static_cast<std::ptrdiff_t>(first_) && (place - 1)->time > time)
    --place;
  all_.insert(place, {time, bytes});
}

double ReturningCredits::when(double bytes) const
{
  for (std::size_t at = first_; at < all_.size(); ++at) {
    bytes -= all_[at].bytes;
    if (bytes <= 0)
      return all_[at].time;
  }
  return NEVER_S;
}

} // namespace weft
