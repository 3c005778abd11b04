// SPDX-License-Identifier: LGPL-2.1-only
/* Proof of a fabric's routes. */
#pragma once

#include "fabric/fabric.hpp"

#include <string>

namespace weft {

/** Proves the routes (Belbeisi et al., section 5, rule 3): each exists, connects its ends over existing cables, visits
 * no vertex twice, crosses a switch and is no longer than the topology's diameter. Checks all pairs of up to 1,024
 * hosts, a seeded sample of more, and always routes from and to every switch. For switches with forwarding caches, also
 * proves that equal tags leave by equal ports. Returns a summary of the proof. Throws UserError with the first pair
 * that fails.
 */
std::string check(const Fabric& fabric);

} // namespace weft
