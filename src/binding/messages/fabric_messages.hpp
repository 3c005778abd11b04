// SPDX-License-Identifier: LGPL-2.1-only
/* Messages and flows on a fabric, carried by weft's network. */
#pragma once

#include "binding/messages/host_network.hpp"
#include "binding/platform/fabric_zone.hpp"
#include "network/fabric_routes.hpp"
#include "network/flow_network.hpp"
#include "network/job_traffic.hpp"

#include <memory>
#include <vector>

namespace weft {

/** Weights of jobs and of background traffic tables on links that are shared by job. */
struct LinkWeights {
  std::vector<double> jobs{1};
  std::vector<double> background;
};

/** Creates the network. @p folds: coalesces equal messages, which changes no times. @p traffic: counts each job's
 * traffic; null if there is only one job. @p known: the state known to routing, in runs with faults, with the reaction
 * @p recovery; else both are null. All arguments but @p weights must outlive the result. */
std::unique_ptr<HostNetwork> make_fabric_host_network(const Fabric& fabric, FabricZone& zone, MessageCosts costs,
                                                      bool folds, JobTraffic* traffic, const FabricState* known,
                                                      const LinkWeights& weights, const RecoveryModel* recovery);

} // namespace weft
