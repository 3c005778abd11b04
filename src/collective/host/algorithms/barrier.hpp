// SPDX-License-Identifier: LGPL-2.1-only
#pragma once

#include "collective/host/engine/host_call.hpp"

namespace weft {

Schedule barrier_linear(const HostCall& call, int rank, Tuning tuning);
Schedule barrier_double_ring(const HostCall& call, int rank, Tuning tuning);
Schedule barrier_recursive_doubling(const HostCall& call, int rank, Tuning tuning);
Schedule barrier_bruck(const HostCall& call, int rank, Tuning tuning);
Schedule barrier_two_proc(const HostCall& call, int rank, Tuning tuning);
Schedule barrier_tree(const HostCall& call, int rank, Tuning tuning);
/** Fan-in and fan-out along a binomial tree: coll/basic above its crossover. */
Schedule barrier_basic_log(const HostCall& call, int rank, Tuning tuning);

} // namespace weft
