// SPDX-License-Identifier: LGPL-2.1-only
/* Algorithms of UCC (Unified Collective Communication) on hosts: its TL/UCP, which CL/BASIC runs among all ranks, with
 * the same messages, waits and sums (src/components/tl/ucp and src/coll_patterns of openucx/ucc). Their messages have
 * not been compared with the library's. */
#pragma once

#include "collective/host/engine/host_call.hpp"

namespace weft::ucc {

/** Recursive k-nomial exchange of whole vectors; the radix is Tuning::fan_out, or 4 if that is 0. */
Schedule allreduce_knomial(const HostCall& call, int rank, Tuning tuning);
/** Reduce-scatter, then allgather, in the same k-nomial pattern: "SRA". The radix is 2 for vectors of few elements. */
Schedule allreduce_sra_knomial(const HostCall& call, int rank, Tuning tuning);
/** CL/HIER's default, "reduce, allreduce, bcast": k-nomial trees within each host, and an exchange of whole vectors
 * between the hosts' first ranks (src/components/cl/hier/allreduce/allreduce_rab.c). */
Schedule allreduce_rab(const HostCall& call, int rank, Tuning tuning);
/** K-nomial exchange of empty messages; the radix is Tuning::fan_out, or 8 if that is 0. */
Schedule barrier_knomial(const HostCall& call, int rank, Tuning tuning);
/** K-nomial tree that receives from all children of a level at once. */
Schedule reduce_knomial(const HostCall& call, int rank, Tuning tuning);
/** Two rings in opposite directions, each with half of every block. */
Schedule reduce_scatter_ring(const HostCall& call, int rank, Tuning tuning);

} // namespace weft::ucc
