// SPDX-License-Identifier: LGPL-2.1-only
/* The proof that a fabric's routes lead where they should. */
#pragma once

#include "fabric/fabric.hpp"

#include <string>

namespace weft {

/** Prove the routes (Belbeisi et al., section 5, rule 3): each way exists, joins end to end over cables that there are,
 *  visits nothing twice, crosses a switch and is no longer than the topology's diameter. All pairs of up to 1,024
 *  hosts, else a seeded sample; always every switch from and to some host. Where switches have forwarding caches, their
 * hashes too: equal tags leave by equal ports. Returns what was proven; throws UserError with the first pair for which
 * it does not hold. */
std::string check(const Fabric& fabric);

} // namespace weft
