// SPDX-License-Identifier: LGPL-2.1-only
/* Calls by the multicast protocol. */
#pragma once

#include "binding/mechanisms/multicast/multicast_state.hpp"
#include "binding/mechanisms/offload.hpp"

#include <memory>

namespace weft {

/** Creates a call. @p run and @p state, which belongs to @p communicator, must outlive it. */
std::shared_ptr<OffloadedCall> make_multicast_call(RunContext& context, MulticastRun& run, MulticastState& state,
                                                   const std::shared_ptr<Communicator>& communicator,
                                                   const CallDescriptor& call);

} // namespace weft
