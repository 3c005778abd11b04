// SPDX-License-Identifier: LGPL-2.1-only
/* Loading of a rank's copy of its program. */
#pragma once

#include "binding/settings/settings.hpp"

#include <string>

namespace weft {

/** Loads a rank's copy of the program @p original, which is a separate file, with copies of its libraries. @p libraries
 * are as in Settings::private_libraries. Ends the process if that fails. */
void* load_copy(const std::string& program, const std::string& original, const Lines& libraries);

} // namespace weft
