// SPDX-License-Identifier: LGPL-2.1-only
/* Computation of threads between locks, if SMPI simulates it (--host-speed). SMPI does so between MPI calls, but
 * threads also wait for each other in between. */
#pragma once

namespace weft {

/** Charges the current thread's computation so far, which takes simulated time. Computation until the end of the scope
 * is not charged. */
class ComputationBreak {
  bool charges_;

public:
  ComputationBreak();
  ComputationBreak(const ComputationBreak&)            = delete;
  ComputationBreak& operator=(const ComputationBreak&) = delete;
  ~ComputationBreak();
};

} // namespace weft
