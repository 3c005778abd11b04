// SPDX-License-Identifier: LGPL-2.1-only
#pragma once

#include <algorithm>

namespace weft {

/** Wait of a rank for several requests. The rank pays for the overhead of each as it completes, one at a time; the wait
 * is over once the last one is complete and paid for. */
class PaidWait {
  int missing_       = 0;
  double busy_until_ = 0;

public:
  PaidWait() = default;
  /** @p missing: number of incomplete requests; @p busy_until: end of the overheads of the complete ones. */
  PaidWait(int missing, double busy_until) : missing_(missing), busy_until_(busy_until) {}

  /** Returns the start of the overhead of a request that completes @p now. */
  double begin_of_overhead(double now) const { return std::max(busy_until_, now); }
  /** Pays for a request that completes @p now. */
  void pay(double now, double overhead) { busy_until_ = begin_of_overhead(now) + overhead; }
  /** Counts the completion of a request. Returns whether it was the last one. */
  bool count_end() { return --missing_ <= 0; }
  bool all_ended() const { return missing_ <= 0; }
  double busy_until() const { return busy_until_; }
};

} // namespace weft
