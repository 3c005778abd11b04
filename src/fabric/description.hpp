// SPDX-License-Identifier: LGPL-2.1-only
/* Text summary of a fabric. */
#pragma once

#include "fabric/fabric.hpp"

#include <string>

namespace weft {

/** Returns a summary of a few lines. */
std::string describe(const Fabric& fabric);

} // namespace weft
