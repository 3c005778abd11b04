// SPDX-License-Identifier: LGPL-2.1-only
/* How Open MPI executes calls that do not block, and persistent ones: its component libnbc (ompi/mca/coll/libnbc,
 * versions 4.1 and 5.0).
 *
 * libnbc writes down a rank's part in rounds when the call is made. All messages of a round are posted at once, the
 * next round begins when all of them have ended, and the rank adds up and copies between. */
#pragma once

#include "collective/host/engine/host_call.hpp"

namespace weft {

/** Of Allgather and Alltoall: each rank sends a block to each other one. */
Schedule nbc_exchange_linear(const HostCall& call, int rank, Tuning tuning);
Schedule nbc_allgather_recursive_doubling(const HostCall& call, int rank, Tuning tuning);
/** Of Allgatherv. */
Schedule nbc_allgatherv_linear(const HostCall& call, int rank, Tuning tuning);

Schedule nbc_allreduce_ring(const HostCall& call, int rank, Tuning tuning);
Schedule nbc_allreduce_binomial(const HostCall& call, int rank, Tuning tuning);
Schedule nbc_allreduce_rabenseifner(const HostCall& call, int rank, Tuning tuning);

/** Of Alltoallv and Alltoallw: nothing is sent where there is nothing to send. */
Schedule nbc_alltoallv_linear(const HostCall& call, int rank, Tuning tuning);

Schedule nbc_barrier_dissemination(const HostCall& call, int rank, Tuning tuning);

Schedule nbc_bcast_linear(const HostCall& call, int rank, Tuning tuning);
Schedule nbc_bcast_binomial(const HostCall& call, int rank, Tuning tuning);
Schedule nbc_bcast_chain(const HostCall& call, int rank, Tuning tuning);
Schedule nbc_bcast_knomial(const HostCall& call, int rank, Tuning tuning);

/** Of Gather and Gatherv. */
Schedule nbc_gather_linear(const HostCall& call, int rank, Tuning tuning);
/** Of Scatter and Scatterv. */
Schedule nbc_scatter_linear(const HostCall& call, int rank, Tuning tuning);

Schedule nbc_reduce_chain(const HostCall& call, int rank, Tuning tuning);
Schedule nbc_reduce_binomial(const HostCall& call, int rank, Tuning tuning);
Schedule nbc_reduce_rabenseifner(const HostCall& call, int rank, Tuning tuning);
/** Whether libnbc takes a chain where nbc_reduce_rabenseifner has too few elements to halve, in such segments. */
bool nbc_reduce_is_chain(const HostCall& call);
constexpr Bytes NBC_REDUCE_CHAIN_SEGMENT{8192};

/** Of Reduce_scatter and Reduce_scatter_block. */
Schedule nbc_reduce_scatter_binomial(const HostCall& call, int rank, Tuning tuning);

} // namespace weft
