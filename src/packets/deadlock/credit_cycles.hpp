// SPDX-License-Identifier: LGPL-2.1-only
/* Deadlock of lossless links. A packet that occupies the buffer behind one link waits for room behind the next link of
 * its route. If such dependencies form a cycle, packets can wait for each other forever (W. J. Dally, C. L. Seitz:
 * Deadlock-free message routing in multiprocessor interconnection networks, IEEE Transactions on Computers C-36(5),
 * 1987). */
#pragma once

#include "fabric/fabric.hpp"

#include <vector>

namespace weft {

/** Returns links that depend on each other in a cycle, in order, by the routes between hosts; empty if there are none.
 * @p equal: packets may take all equal-cost routes, not only the static ones. */
std::vector<LinkId> find_credit_cycle(const Topology& topology, std::size_t links, bool equal);

/** Throws UserError if messages of @p fabric cannot be packets: because of what flows alone model, or since its routes
 * can deadlock. */
void check_packets(const Fabric& fabric);

} // namespace weft
