/* weft's entries in SMPI's registry of collective algorithms.
 *
 * Each entry counts the call, holds it against the other ranks' and then offloads it or hands it to the algorithm that
 * the user chose. SMPI has checked the arguments, replaced MPI_IN_PLACE and stopped the rank's clock of computation.
 */
#pragma once

#include "simgrid/simulation.hpp"

namespace weft {

/** Register the entries and have SMPI select them; what was selected before becomes the fallback. Throws UserError
 *  where SMPI has no algorithm of the selected name. */
void register_collectives(Simulation& simulation);

} // namespace weft
