// SPDX-License-Identifier: LGPL-2.1-only
/* Schedules of NCCL's collectives: rings (src/device/all_reduce.h and others of NCCL), trees and NVLS.
 *
 * The lanes of a plan are concurrent. On a connection, one message follows the other, and a receiver has posted as many
 * receives as the connection has free slots. */
#pragma once

#include "collective/host/engine/host_call.hpp"

namespace weft {

/** Returns the steps of a rank in a call with a plan. */
Schedule nccl_steps(const HostCall& call, int rank, Tuning tuning);

} // namespace weft
