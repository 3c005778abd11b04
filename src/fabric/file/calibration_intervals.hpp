// SPDX-License-Identifier: LGPL-2.1-only
/* Confidence intervals of calibrated values: [calibration.intervals] of a fabric file, "TABLE.KEY" = [LOW, HIGH],
 * written like the key's values. Comparisons simulate both ends; other runs ignore them. */
#pragma once

#include "base/option_file.hpp"

namespace weft {

/** Throws UserError unless every entry names a numeric key of a fabric file and consists of two values of its type, in
 * ascending order. */
void check_calibration_intervals(const OptionTable& file);

} // namespace weft
