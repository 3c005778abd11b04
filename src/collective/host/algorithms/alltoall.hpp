// SPDX-License-Identifier: LGPL-2.1-only
#pragma once

#include "collective/host/engine/host_call.hpp"

namespace weft {

// Algorithms of Alltoall and, except Bruck's, of Alltoallv.
Schedule alltoall_linear(const HostCall& call, int rank, Tuning tuning);
/** Algorithm of Alltoallw: empty messages are omitted. */
Schedule alltoallw_linear(const HostCall& call, int rank, Tuning tuning);
Schedule alltoall_pairwise(const HostCall& call, int rank, Tuning tuning);
Schedule alltoall_bruck(const HostCall& call, int rank, Tuning tuning);
Schedule alltoall_two_proc(const HostCall& call, int rank, Tuning tuning);

} // namespace weft
