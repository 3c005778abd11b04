// SPDX-License-Identifier: LGPL-2.1-only
/* Condition under which SMPI's clocks count for the current rank. */
#pragma once

namespace weft {

/** Returns true if the rank's computation and its clock reads are simulated: between MPI_Init and
 *  MPI_Finalize, and outside blocks that it samples (SMPI_SAMPLE_…), which SMPI times itself. False
 *  for actors that are not ranks. */
bool clocks_are_simulated();

} // namespace weft
