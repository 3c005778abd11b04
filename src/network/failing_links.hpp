// SPDX-License-Identifier: LGPL-2.1-only
/* Interface of a network, other than the flow network, whose links can fail. */
#pragma once

#include "base/units.hpp"
#include "model/recovery/recovery_model.hpp"

#include <vector>

namespace weft {

class FailingLinks {
public:
  FailingLinks()                               = default;
  FailingLinks(const FailingLinks&)            = delete;
  FailingLinks& operator=(const FailingLinks&) = delete;
  virtual ~FailingLinks()                      = default;
  /** Cuts links now: traffic on them is lost. */
  virtual void turn_off(const std::vector<int>& links)           = 0;
  virtual void turn_on(const std::vector<int>& links)            = 0;
  virtual void set_bandwidth(int link, BytesPerSecond bandwidth) = 0;
  /** Sets the probability, less than 1, that a link loses a packet. */
  virtual void set_loss(int link, double probability) = 0;
  /** Called when routing has learnt of faults or repairs. */
  virtual void forget_routes()                   = 0;
  virtual RecoveryCounts recovery_counts() const = 0;
};

} // namespace weft
