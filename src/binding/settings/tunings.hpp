// SPDX-License-Identifier: LGPL-2.1-only
/* Tunings that are on in this run: those selected by the settings that support the loaded SimGrid.
 *
 * They are selected while libweft.so is loaded, before SimGrid creates any object: a tuning never changes between on
 * and off while it holds state. Until then all are off. */
#pragma once

#include "model/tuning/tuning.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace weft {

/** Set once, before main(). */
extern constinit TuningFlags
    tunings_on; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): hot paths read it

/** Returns true if the tuning is on: one load from memory. */
inline bool is_on(TuningId tuning)
{
  return tunings_on[static_cast<std::size_t>(tuning)];
}

/** Checks the choice of tunings, and reports on standard error those that do not support this SimGrid. Throws UserError
 * for an invalid choice. */
void check_tunings();

/** Returns true if calls may skip SMPI: direct-calls is on, and SMPI's functions would only check a correct call before
 *  they call the algorithm, or wait. */
bool calls_are_direct();

/** Returns the names of the tunings that are off. */
std::vector<std::string> tunings_off();

} // namespace weft
