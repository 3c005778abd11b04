// SPDX-License-Identifier: LGPL-2.1-only
/* Workloads of accelerators from the Python package to the library, in JSON. */
#pragma once

#include "workload/program.hpp"

#include <string>

namespace weft {

std::string describe(const Workload& workload);

/** Returns the workload in a file in the format of describe(). Throws UserError. */
Workload read_workload(const std::string& path);

} // namespace weft
