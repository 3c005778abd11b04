// SPDX-License-Identifier: LGPL-2.1-only
/* Results of flows. SimGrid signals the end of a flow whether or not its last byte has arrived, so
 * completion callbacks receive the result and must check it. */
#pragma once

#include <simgrid/s4u.hpp>

#include <functional>
#include <string>
#include <vector>

namespace weft {

struct FlowResult {
  std::string failure = {}; ///< readable reason of the failure; empty if the flow has arrived
  double left         = 0;  ///< part that has not arrived, of a flow that a fault has cut; 0: it was not cut
  double rest         = 1;  ///< part that has not arrived, of a flow that has failed in SimGrid

  bool arrived() const { return failure.empty(); }
};

/** Callback for the end of a flow. */
using FlowEnd = std::function<void(const FlowResult&)>;

/** Returns the result of @p flow of @p bytes over @p links, once SimGrid has signalled its end. */
FlowResult result_of(const simgrid::s4u::Comm& flow, double bytes, const std::vector<simgrid::s4u::Link*>& links);
/** Returns the result of @p flow of @p bytes over the links between its hosts. */
FlowResult result_of(const simgrid::s4u::Comm& flow, double bytes);

/** Starts a flow between two hosts. @p ended runs in SimGrid's kernel context at its end, also if it cannot start,
 * which SimGrid does not signal. */
void start_flow(const simgrid::s4u::CommPtr& flow, simgrid::s4u::Host* from, simgrid::s4u::Host* to,
                const std::function<void(const simgrid::s4u::Comm&)>& ended);

/** Names what is off on the way between two hosts; empty if nothing is. */
std::string off_between(const simgrid::s4u::Host* from, const simgrid::s4u::Host* to);

/** Names all links that are off, as in 'link "a" is off'; empty if none is. */
std::string links_off(const std::vector<simgrid::s4u::Link*>& links);

} // namespace weft
