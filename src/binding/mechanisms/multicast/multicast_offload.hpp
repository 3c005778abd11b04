// SPDX-License-Identifier: LGPL-2.1-only
/* Offloaded calls by the multicast protocol. */
#pragma once

#include "binding/mechanisms/offload.hpp"

#include <memory>

namespace weft {

std::shared_ptr<OffloadedCall> make_multicast_call(Simulation& simulation,
                                                   const std::shared_ptr<Communicator>& communicator,
                                                   const Described& described);

} // namespace weft
