// SPDX-License-Identifier: LGPL-2.1-only
/* Intervals that a calibration leaves its values: [calibration.intervals] of a fabric file, "TABLE.KEY" = [LOW, HIGH],
 * both as the file writes values of that key. Simulations do not depend on them; comparisons run at their ends. */
#pragma once

#include "base/option_file.hpp"

namespace weft {

/** Throws UserError unless every entry names a quantity, a size or a number of a fabric file, with two values of its
 *  type that do not fall. */
void check_calibration_intervals(const OptionTable& file);

} // namespace weft
