// SPDX-License-Identifier: LGPL-2.1-only
#pragma once

#include "collective/host/engine/host_call.hpp"

namespace weft {

// Algorithms of Scan and Exscan.
Schedule scan_linear(const HostCall& call, int rank, Tuning tuning);
Schedule scan_recursive_doubling(const HostCall& call, int rank, Tuning tuning);

} // namespace weft
