// SPDX-License-Identifier: LGPL-2.1-only
#include "protocol/rank_requests.hpp"

#include <cstddef>

namespace weft {

/** Removes the reaped requests at the front: immediately if all are reaped, otherwise once there are many. */
void RankRequests::forget_reaped()
{
  while (reaped_ < all_.size() && all_[reaped_].reaped)
    ++reaped_;
  constexpr std::size_t MANY = 64; // a long schedule would otherwise keep every request until all are complete
  if (reaped_ == all_.size() || (reaped_ >= MANY && 2 * reaped_ >= all_.size())) {
    first_ += static_cast<int>(reaped_);
    all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(reaped_));
    reaped_ = 0;
  }
}

void RankRequests::reap_all()
{
  first_ += static_cast<int>(all_.size());
  all_.clear();
  reaped_ = 0;
}

void RankRequests::clear()
{
  first_  = 0;
  reaped_ = 0;
  all_.clear();
}

} // namespace weft
