// SPDX-License-Identifier: LGPL-2.1-only
/* Conditions under which SMPI's clocks count for the current rank. */
#pragma once

namespace weft {

/** Returns true if the rank's computation and its clock reads are simulated: between MPI_Init and MPI_Finalize, and
 * outside sampled blocks (SMPI_SAMPLE_…), which SMPI times itself. False for actors that are not ranks. */
bool clocks_are_simulated();

/** Returns whether computation takes simulated time (--host-speed). */
bool computation_is_simulated();

/** Charges the current rank's computation now. Otherwise SMPI does so at the start of the next MPI call, which would
 * count it as its own time. */
void settle_computation();

/** Returns true inside a block that the current rank samples (SMPI_SAMPLE_…), where clocks show real time. */
bool is_sampling();

} // namespace weft
