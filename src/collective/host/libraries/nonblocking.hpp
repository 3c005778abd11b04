// SPDX-License-Identifier: LGPL-2.1-only
/* Algorithms of non-blocking and persistent collectives in Open MPI: its component libnbc
 * (ompi/mca/coll/libnbc, versions 4.1 and 5.0).
 *
 * libnbc compiles a rank's schedule into rounds when the call is made. All messages of a round are
 * posted at once, the next round begins when all of them have completed, and additions and copies
 * are executed in between. */
#pragma once

#include "collective/host/engine/host_call.hpp"

namespace weft {

/** Allgather and Alltoall: each rank sends a block to every other rank. */
Schedule nbc_exchange_linear(const HostCall& call, int rank, Tuning tuning);
Schedule nbc_allgather_recursive_doubling(const HostCall& call, int rank, Tuning tuning);
/** Allgatherv. */
Schedule nbc_allgatherv_linear(const HostCall& call, int rank, Tuning tuning);

Schedule nbc_allreduce_ring(const HostCall& call, int rank, Tuning tuning);
Schedule nbc_allreduce_binomial(const HostCall& call, int rank, Tuning tuning);
Schedule nbc_allreduce_rabenseifner(const HostCall& call, int rank, Tuning tuning);

/** Alltoallv and Alltoallw: empty messages are omitted. */
Schedule nbc_alltoallv_linear(const HostCall& call, int rank, Tuning tuning);

Schedule nbc_barrier_dissemination(const HostCall& call, int rank, Tuning tuning);

Schedule nbc_bcast_linear(const HostCall& call, int rank, Tuning tuning);
Schedule nbc_bcast_binomial(const HostCall& call, int rank, Tuning tuning);
Schedule nbc_bcast_chain(const HostCall& call, int rank, Tuning tuning);
Schedule nbc_bcast_knomial(const HostCall& call, int rank, Tuning tuning);

/** Gather and Gatherv. */
Schedule nbc_gather_linear(const HostCall& call, int rank, Tuning tuning);
/** Scatter and Scatterv. */
Schedule nbc_scatter_linear(const HostCall& call, int rank, Tuning tuning);

Schedule nbc_reduce_chain(const HostCall& call, int rank, Tuning tuning);
Schedule nbc_reduce_binomial(const HostCall& call, int rank, Tuning tuning);
Schedule nbc_reduce_rabenseifner(const HostCall& call, int rank, Tuning tuning);
/** Returns whether libnbc replaces nbc_reduce_rabenseifner by a chain with segments of this size, because there are too
 * few elements to halve. */
bool nbc_reduce_is_chain(const HostCall& call);
constexpr Bytes NBC_REDUCE_CHAIN_SEGMENT{8192};

/** Reduce_scatter and Reduce_scatter_block. */
Schedule nbc_reduce_scatter_binomial(const HostCall& call, int rank, Tuning tuning);

} // namespace weft
