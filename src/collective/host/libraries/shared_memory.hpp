// SPDX-License-Identifier: LGPL-2.1-only
/* Collectives among the ranks of a host through buffers in shared memory: one rank copies a fragment into a buffer and
 * raises a flag, and other ranks read the fragment there.
 *
 * release_gather comes from MPICH 4's module for shared memory (src/mpid/ch4/shm/posix/release_gather/release_gather.h
 * and posix_coll_release_gather.h, version 4.2.3), sm from Open MPI's component coll/sm (ompi/mca/coll/sm, version
 * 5.0.5). Both use their libraries' defaults. Flags take no CPU time; each takes the latency within the host.
 */
#pragma once

#include "collective/host/engine/host_call.hpp"

namespace weft {

Schedule allreduce_release_gather(const HostCall& call, int rank, Tuning tuning);
Schedule barrier_release_gather(const HostCall& call, int rank, Tuning tuning);
Schedule bcast_release_gather(const HostCall& call, int rank, Tuning tuning);
Schedule reduce_release_gather(const HostCall& call, int rank, Tuning tuning);

Schedule allreduce_sm(const HostCall& call, int rank, Tuning tuning);
Schedule barrier_sm(const HostCall& call, int rank, Tuning tuning);
Schedule bcast_sm(const HostCall& call, int rank, Tuning tuning);
Schedule reduce_sm(const HostCall& call, int rank, Tuning tuning);

} // namespace weft
