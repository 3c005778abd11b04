// SPDX-License-Identifier: LGPL-2.1-only
/* Messages of hosts' schedules on a fabric: flows of weft's own, where nothing of SimGrid's uses their links; else
 * SimGrid's, over the same links. */
#pragma once

#include "binding/messages/host_network.hpp"
#include "binding/platform/fabric_zone.hpp"
#include "network/fabric_routes.hpp"
#include "network/flow_network.hpp"

#include <memory>
#include <vector>

namespace weft {

/** @p folds: whether equal messages are one flow, which changes no time. All must outlive it. */
std::unique_ptr<HostNetwork> make_fabric_host_network(const Fabric& fabric, FabricZone& zone, MessageCosts costs,
                                                      bool folds);

} // namespace weft
