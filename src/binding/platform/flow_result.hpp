// SPDX-License-Identifier: LGPL-2.1-only
/* How flows end. SimGrid tells of a flow's end whether its last byte has arrived or not, so whoever waits for one is
 * told how it ended, and must look. */
#pragma once

#include <simgrid/s4u.hpp>

#include <functional>
#include <string>
#include <vector>

namespace weft {

struct FlowResult {
  std::string failure = {}; ///< what kept it from arriving, for people; empty where it has arrived

  bool arrived() const { return failure.empty(); }
};

/** Runs when a flow has ended. */
using FlowEnd = std::function<void(const FlowResult&)>;

/** How @p flow, over @p links, has ended; to be asked when SimGrid says that it has. */
FlowResult result_of(const simgrid::s4u::Comm& flow, const std::vector<simgrid::s4u::Link*>& links);
/** The same, over the links between its hosts. */
FlowResult result_of(const simgrid::s4u::Comm& flow);

/** 'link "a" is off', of all those among @p links that are; empty where none is. */
std::string links_off(const std::vector<simgrid::s4u::Link*>& links);

} // namespace weft
