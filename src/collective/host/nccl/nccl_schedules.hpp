// SPDX-License-Identifier: LGPL-2.1-only
/* Schedules of NCCL's collectives: rings (src/device/all_reduce.h and others of NCCL), trees and NVLS.
 *
 * The lanes of a plan are concurrent. Messages of a connection are sent one at a time, and a receiver has posted one
 * receive per free slot of the connection. */
#pragma once

#include "collective/host/engine/host_call.hpp"

namespace weft {

/** Returns the steps of a rank in a call with a plan. */
Schedule nccl_steps(const HostCall& call, int rank, Tuning tuning);

} // namespace weft
