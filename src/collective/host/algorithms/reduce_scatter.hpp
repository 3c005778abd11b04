// SPDX-License-Identifier: LGPL-2.1-only
#pragma once

#include "collective/host/engine/host_call.hpp"

namespace weft {

// Algorithms of Reduce_scatter.
/** The library's Reduce to rank 0, then its Scatterv. */
Schedule reduce_scatter_nonoverlapping(const HostCall& call, int rank, Tuning tuning);
Schedule reduce_scatter_ring(const HostCall& call, int rank, Tuning tuning);

Schedule reduce_scatter_recursive_halving(const HostCall& call, int rank, Tuning tuning);
Schedule reduce_scatter_butterfly(const HostCall& call, int rank, Tuning tuning);

// Algorithms of Reduce_scatter_block.
/** The library's Reduce to rank 0, then its Scatter. */
Schedule reduce_scatter_block_linear(const HostCall& call, int rank, Tuning tuning);
/** Linear for non-commutative operations. */
Schedule reduce_scatter_block_recursive_halving(const HostCall& call, int rank, Tuning tuning);
Schedule reduce_scatter_block_butterfly(const HostCall& call, int rank, Tuning tuning);

/** Algorithm of both collectives. */
Schedule reduce_scatter_recursive_doubling(const HostCall& call, int rank, Tuning tuning);

} // namespace weft
