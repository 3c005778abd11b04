// SPDX-License-Identifier: LGPL-2.1-only
/* Messages of schedules and flows of offloaded calls that SimGrid carries: on SimGrid's platforms, and in tests. */
#pragma once

#include "binding/messages/host_network.hpp"
#include "binding/messages/resent_transfers.hpp"

#include <memory>

namespace weft {

/** Creates a network whose messages and flows are SimGrid's. @p resent retransmits failed transfers; null: failures are
 * reported. */
std::unique_ptr<HostNetwork> make_simgrid_host_network(Network& network, MessageCosts costs,
                                                       ResentTransfers* resent = nullptr);

} // namespace weft
