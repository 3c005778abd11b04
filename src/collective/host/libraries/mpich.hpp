// SPDX-License-Identifier: LGPL-2.1-only
/* The algorithms that MPICH 4 takes by itself and that are not those of Open MPI, message for message and wait for
 * wait. Where MPICH executes calls that do not block in another way (its `sched` forms post more at once), an algorithm
 * goes by HostCall::blocking.
 *
 * MPICH: src/mpi/coll of version 4.0.2. A function has the name of the algorithm there. Whether a round's receive is
 * posted just before its send or just after it, in the same instant, is not distinguished. */
#pragma once

#include "collective/host/engine/host_call.hpp"

namespace weft::mpich {

/** Blocks go around in pieces of Tuning::segment, or 32 KiB where it is 0 (MPIR_CVAR_ALLGATHERV_PIPELINE_MSG_SIZE). */
Schedule allgatherv_ring(const HostCall& call, int rank, Tuning tuning);

Schedule allreduce_reduce_scatter_allgather(const HostCall& call, int rank, Tuning tuning);

/** All messages at once, but not more than a number of ranks at a time: Tuning::fan_out, or 32 where it is 0
 *  (MPIR_CVAR_ALLTOALL_THROTTLE). Alltoallv leaves out what is empty. */
Schedule alltoall_scattered(const HostCall& call, int rank, Tuning tuning);
/** In each round the ranks of a power of two exchange in pairs; others send to one and receive from another. */
Schedule alltoall_pairwise(const HostCall& call, int rank, Tuning tuning);

Schedule bcast_binomial(const HostCall& call, int rank, Tuning tuning);
/** The vector is scattered along a binomial tree and gathered again by recursive doubling. */
Schedule bcast_scatter_recursive_doubling_allgather(const HostCall& call, int rank, Tuning tuning);
/** The same, gathered in a ring. */
Schedule bcast_scatter_ring_allgather(const HostCall& call, int rank, Tuning tuning);

/** The root posts all its messages at once. Who has nothing sends nothing. */
Schedule gatherv_linear(const HostCall& call, int rank, Tuning tuning);
Schedule scatterv_linear(const HostCall& call, int rank, Tuning tuning);

/** Where the operation does not commute, the ranks are summed up in their order at rank 0, which sends the sum on. */
Schedule reduce_binomial(const HostCall& call, int rank, Tuning tuning);
Schedule reduce_reduce_scatter_gather(const HostCall& call, int rank, Tuning tuning);

/** For operations that do not commute: blocks in mirrored order are exchanged by halves, so that each rank ends with
 * its own. For a power of two of ranks with even blocks; recursive doubling for others. */
Schedule reduce_scatter_noncommutative(const HostCall& call, int rank, Tuning tuning);
/** In round i a rank sends its part of the sum to the i-th rank after it. */
Schedule reduce_scatter_pairwise(const HostCall& call, int rank, Tuning tuning);

// Where ranks share hosts, calls within a host and between the first ranks of all hosts, which are chosen as any other.
Schedule allreduce_smp(const HostCall& call, int rank, Tuning tuning);
Schedule barrier_smp(const HostCall& call, int rank, Tuning tuning);
/** The root hands its vector to the first rank of its host. */
Schedule bcast_smp(const HostCall& call, int rank, Tuning tuning);
/** The root's host has the vector before the others. */
Schedule bcast_smp_node_first(const HostCall& call, int rank, Tuning tuning);
/** To rank 0, which hands the sum to the root. */
Schedule reduce_smp(const HostCall& call, int rank, Tuning tuning);
/** The root's host adds up what comes from the others with what it has. */
Schedule reduce_smp_node_last(const HostCall& call, int rank, Tuning tuning);
/** For hosts whose ranks follow one another. */
Schedule scan_smp(const HostCall& call, int rank, Tuning tuning);

} // namespace weft::mpich
