// SPDX-License-Identifier: LGPL-2.1-only
#pragma once

#include "collective/host/engine/host_call.hpp"

namespace weft {

Schedule gather_linear(const HostCall& call, int rank, Tuning tuning);
Schedule gather_binomial(const HostCall& call, int rank, Tuning tuning);
/** The root requests each rank's block, which the rank sends in two parts. */
Schedule gather_linear_sync(const HostCall& call, int rank, Tuning tuning);
/** Ranks without data send no message. */
Schedule gatherv_linear(const HostCall& call, int rank, Tuning tuning);
Schedule scatter_linear(const HostCall& call, int rank, Tuning tuning);
Schedule scatter_binomial(const HostCall& call, int rank, Tuning tuning);
Schedule scatter_linear_nonblocking(const HostCall& call, int rank, Tuning tuning);
/** Ranks that receive no data get no message. */
Schedule scatterv_linear(const HostCall& call, int rank, Tuning tuning);

} // namespace weft
