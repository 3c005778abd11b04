// SPDX-License-Identifier: LGPL-2.1-only
/* Fabrics in words. */
#pragma once

#include "fabric/fabric.hpp"

#include <string>

namespace weft {

/** What a fabric is, in some lines of text. */
std::string describe(const Fabric& fabric);

} // namespace weft
