// SPDX-License-Identifier: LGPL-2.1-only
#pragma once

#include "collective/host/engine/host_call.hpp"
#include "collective/host/steps/rank_tree.hpp"

namespace weft {

/** Pipelined broadcast from parents to children in segments of @p segment; a rank forwards one segment while it
 * receives the next. */
Schedule bcast_along(const HostCall& call, RankTree tree, Bytes segment);

Schedule bcast_linear(const HostCall& call, int rank, Tuning tuning);
Schedule bcast_chain(const HostCall& call, int rank, Tuning tuning);
Schedule bcast_pipeline(const HostCall& call, int rank, Tuning tuning);
Schedule bcast_split_binary_tree(const HostCall& call, int rank, Tuning tuning);
Schedule bcast_binary_tree(const HostCall& call, int rank, Tuning tuning);
Schedule bcast_binomial(const HostCall& call, int rank, Tuning tuning);
Schedule bcast_knomial(const HostCall& call, int rank, Tuning tuning);
Schedule bcast_scatter_allgather(const HostCall& call, int rank, Tuning tuning);
Schedule bcast_scatter_allgather_ring(const HostCall& call, int rank, Tuning tuning);

/** Returns whether each half of the message has at least one segment; otherwise bcast_split_binary_tree is
 * bcast_pipeline. */
bool bcast_is_split(const HostCall& call, Bytes segment);

} // namespace weft
