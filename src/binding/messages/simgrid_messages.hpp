// SPDX-License-Identifier: LGPL-2.1-only
/* Messages of schedules and flows of offloaded calls that SimGrid carries: on SimGrid's platforms, and on fabrics if
 * the ranks' messages are SMPI's or SimGrid must see all flows. */
#pragma once

#include "binding/messages/host_network.hpp"
#include "binding/messages/resent_transfers.hpp"
#include "binding/platform/fabric_zone.hpp"

#include <memory>

namespace weft {

/** Creates a network on a platform whose messages and flows are SimGrid's. @p resent retransmits failed transfers;
 * null: failures are reported. */
std::unique_ptr<HostNetwork> make_simgrid_host_network(Network& network, MessageCosts costs,
                                                       ResentTransfers* resent = nullptr);

/** Creates such a network on a fabric. Both must outlive it. */
std::unique_ptr<HostNetwork> make_simgrid_fabric_network(const Fabric& fabric, FabricZone& zone, MessageCosts costs);

} // namespace weft
