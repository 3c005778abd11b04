// SPDX-License-Identifier: LGPL-2.1-only
/* Computation of threads between locks, if SMPI simulates it (--host-speed). SMPI does so between MPI calls; threads
 * also wait for each other in between. */
#pragma once

namespace weft {

/** Charges what the current thread has computed, which takes simulated time. What happens until the end of the scope is
 * not charged. */
class ComputationBreak {
  bool charges_;

public:
  ComputationBreak();
  ComputationBreak(const ComputationBreak&)            = delete;
  ComputationBreak& operator=(const ComputationBreak&) = delete;
  ~ComputationBreak();
};

} // namespace weft
