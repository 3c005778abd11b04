// SPDX-License-Identifier: LGPL-2.1-only
/* Faults described by `weft run` in JSON (python/weft/runs/faults/description.py). */
#pragma once

#include "faults/fault_events.hpp"

#include <string>

namespace weft {

/** Returns the faults of a JSON description. Throws UserError, which names @p source. */
FaultDescription parse_faults(const std::string& text, const std::string& source);

/** Reads the description in a file. Throws UserError. */
FaultDescription read_faults(const std::string& path);

} // namespace weft
