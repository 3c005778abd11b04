// SPDX-License-Identifier: LGPL-2.1-only
#pragma once

#include "collective/host/engine/host_call.hpp"

namespace weft {

// Of Alltoall and, but for Bruck's, of Alltoallv.
Schedule alltoall_linear(const HostCall& call, int rank, Tuning tuning);
/** Of Alltoallw: nothing is sent where there is nothing to send. */
Schedule alltoallw_linear(const HostCall& call, int rank, Tuning tuning);
Schedule alltoall_pairwise(const HostCall& call, int rank, Tuning tuning);
Schedule alltoall_bruck(const HostCall& call, int rank, Tuning tuning);
Schedule alltoall_two_proc(const HostCall& call, int rank, Tuning tuning);

} // namespace weft
