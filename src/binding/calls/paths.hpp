// SPDX-License-Identifier: LGPL-2.1-only
/* The ways in which offloaded calls are carried out, one for each path that a decision can take but the hosts' own. */
#pragma once

#include "binding/mechanisms/offload.hpp"
#include "collective/decision.hpp"

#include <memory>

namespace weft {

/** Make the state of a call that takes @p path; its ranks are to join it. */
std::shared_ptr<OffloadedCall> make_offloaded_call(Simulation& simulation,
                                                   const std::shared_ptr<Communicator>& communicator, Path path,
                                                   const Described& described);

} // namespace weft
