// SPDX-License-Identifier: LGPL-2.1-only
/* Results of SimGrid's flows. */
#pragma once

#include "network/flow_result.hpp"

#include <simgrid/s4u.hpp>

#include <functional>
#include <string>
#include <vector>

namespace weft {

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
