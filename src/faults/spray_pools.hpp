// SPDX-License-Identifier: LGPL-2.1-only
/* Pools of links over which packets are sprayed, when some of their links fail.
 *
 * Packets are spread evenly over all links of a pool that routing believes to be up. Packets over a dead link are lost,
 * so the pool loses that fraction of its packets until routing has learnt of the failure; afterwards the pool has fewer
 * links. Packets die where they enter a dead switch, and are not lost a second time on the links that leave it. The
 * slowest link of a pool limits all, since each gets the same fraction of the packets. */
#pragma once

#include "fabric/fabric_state.hpp"
#include "network/flow_network.hpp"

#include <vector>

namespace weft {

class SprayPools {
  FlowNetwork& flows_;
  const FabricState& actual_;
  const FabricState& known_;
  std::vector<std::vector<LinkId>> links_; // by pool; empty if the fabric does not spray
  std::vector<double> loss_;               // by link
  std::vector<double> factors_;            // by link: remaining fraction of its bandwidth
  std::vector<bool> off_;                  // by pool

  int resource(std::size_t pool) const { return static_cast<int>(actual_.fabric().links().size() + pool); }
  double loss(LinkId link) const;
  void update_pool(std::size_t pool);

public:
  /** All arguments must outlive this object. */
  SprayPools(FlowNetwork& flows, const FabricState& actual, const FabricState& known);

  void set_loss(LinkId link, double probability);
  void set_factor(LinkId link, double factor);
  /** Updates the pools of links that have failed or recovered, or whose change routing has learnt. */
  void update(const std::vector<LinkId>& links);
};

} // namespace weft
