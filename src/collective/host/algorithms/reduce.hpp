// SPDX-License-Identifier: LGPL-2.1-only
#pragma once

#include "collective/host/engine/host_call.hpp"
#include "collective/host/steps/rank_tree.hpp"

namespace weft {

/** Pipelined reduction: each rank combines its children's vectors with its own and sends the sum to
 * its parent, in segments of @p segment. */
Schedule reduce_along(const HostCall& call, RankTree tree, Bytes segment);

Schedule reduce_linear(const HostCall& call, int rank, Tuning tuning);
Schedule reduce_chain(const HostCall& call, int rank, Tuning tuning);
Schedule reduce_pipeline(const HostCall& call, int rank, Tuning tuning);
Schedule reduce_binary(const HostCall& call, int rank, Tuning tuning);
Schedule reduce_binomial(const HostCall& call, int rank, Tuning tuning);
Schedule reduce_in_order_binary(const HostCall& call, int rank, Tuning tuning);
Schedule reduce_rabenseifner(const HostCall& call, int rank, Tuning tuning);
/** Binomial tree that receives from its children one at a time: coll/basic above its crossover. */
Schedule reduce_basic_log(const HostCall& call, int rank, Tuning tuning);

} // namespace weft
