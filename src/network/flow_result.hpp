// SPDX-License-Identifier: LGPL-2.1-only
/* Results of flows. A flow ends whether or not its last byte has arrived, so completion callbacks receive the result
 * and must check it. */
#pragma once

#include <functional>
#include <string>

namespace weft {

struct FlowResult {
  std::string failure = {}; ///< readable reason of the failure; empty if the flow has arrived
  double left         = 0;  ///< fraction that has not arrived, of a flow that a fault has cut; 0: it was not cut
  double rest         = 1;  ///< fraction that has not arrived, of a flow that has failed in SimGrid

  bool arrived() const { return failure.empty(); }
};

/** Callback for the end of a flow. */
using FlowEnd = std::function<void(const FlowResult&)>;

} // namespace weft
