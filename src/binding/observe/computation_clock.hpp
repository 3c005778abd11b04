// SPDX-License-Identifier: LGPL-2.1-only
/* When SMPI's clocks count for the current rank. */
#pragma once

namespace weft {

/** Returns whether the rank's computation and its reads of the clock are simulated: between MPI_Init and MPI_Finalize,
 *  and outside blocks that it samples (SMPI_SAMPLE_…), which SMPI times itself. False for actors that are no ranks. */
bool clocks_are_simulated();

} // namespace weft
