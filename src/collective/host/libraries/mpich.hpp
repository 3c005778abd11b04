// SPDX-License-Identifier: LGPL-2.1-only
/* Algorithms that MPICH 4 selects by default and that differ from Open MPI's, with the same
 * messages and waits. Where MPICH executes non-blocking calls differently (its `sched` forms post
 * more at once), an algorithm follows HostCall::blocking.
 *
 * MPICH: src/mpi/coll of version 4.0.2. Functions are named after the algorithms there. The order in which a round's
 * receive and send are posted at the same instant is not modelled. */
#pragma once

#include "collective/host/engine/host_call.hpp"

namespace weft::mpich {

/** Ring with blocks in segments of Tuning::segment, or 32 KiB if that is 0
 * (MPIR_CVAR_ALLGATHERV_PIPELINE_MSG_SIZE). */
Schedule allgatherv_ring(const HostCall& call, int rank, Tuning tuning);

Schedule allreduce_reduce_scatter_allgather(const HostCall& call, int rank, Tuning tuning);

/** All messages at once, limited to a number of ranks at a time: Tuning::fan_out, or 32 if that is 0
 * (MPIR_CVAR_ALLTOALL_THROTTLE). Alltoallv omits empty messages. */
Schedule alltoall_scattered(const HostCall& call, int rank, Tuning tuning);
/** Pairwise exchanges for powers of two; otherwise, in each round, a rank sends to one rank and receives from
 * another. */
Schedule alltoall_pairwise(const HostCall& call, int rank, Tuning tuning);

Schedule bcast_binomial(const HostCall& call, int rank, Tuning tuning);
/** Scatter along a binomial tree, then allgather by recursive doubling. */
Schedule bcast_scatter_recursive_doubling_allgather(const HostCall& call, int rank, Tuning tuning);
/** Scatter along a binomial tree, then allgather in a ring. */
Schedule bcast_scatter_ring_allgather(const HostCall& call, int rank, Tuning tuning);

/** The root posts all its messages at once. Ranks without data exchange no message. */
Schedule gatherv_linear(const HostCall& call, int rank, Tuning tuning);
Schedule scatterv_linear(const HostCall& call, int rank, Tuning tuning);

/** Non-commutative operations are reduced in rank order at rank 0, which forwards the result. */
Schedule reduce_binomial(const HostCall& call, int rank, Tuning tuning);
Schedule reduce_reduce_scatter_gather(const HostCall& call, int rank, Tuning tuning);

/** For non-commutative operations: halves of the bit-reversed blocks are exchanged, so that each rank ends with its own
 * block. Requires a power of two of ranks and equal blocks; otherwise recursive doubling. */
Schedule reduce_scatter_noncommutative(const HostCall& call, int rank, Tuning tuning);
/** In round i a rank sends its part of the sum to the rank i positions after it. */
Schedule reduce_scatter_pairwise(const HostCall& call, int rank, Tuning tuning);

// If ranks share hosts: calls within each host and between the first ranks of all hosts, whose algorithms are selected
// like those of any other call.
Schedule allreduce_smp(const HostCall& call, int rank, Tuning tuning);
Schedule barrier_smp(const HostCall& call, int rank, Tuning tuning);
/** The root sends its vector to the first rank of its host. */
Schedule bcast_smp(const HostCall& call, int rank, Tuning tuning);
/** The root's host gets the vector before all other hosts. */
Schedule bcast_smp_node_first(const HostCall& call, int rank, Tuning tuning);
/** Reduces to rank 0, which sends the sum to the root. */
Schedule reduce_smp(const HostCall& call, int rank, Tuning tuning);
/** The root's host combines the vectors of all other hosts with its own. */
Schedule reduce_smp_node_last(const HostCall& call, int rank, Tuning tuning);
/** For hosts with contiguous ranks. */
Schedule scan_smp(const HostCall& call, int rank, Tuning tuning);

} // namespace weft::mpich
