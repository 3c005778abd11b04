// SPDX-License-Identifier: LGPL-2.1-only
/* [routing] table of a fabric file, and the registry of routing policies, one row each. */
#pragma once

#include "base/option.hpp"
#include "fabric/routing/routing_policy.hpp"

#include <memory>
#include <string>
#include <vector>

namespace weft {

struct RoutingModel {
  std::string policy = "static";
  int seed           = 1;
  double bias        = 0; ///< in units of flows times hops

  bool is_static() const { return policy == "static"; }
  /** Returns whether messages use the pools of links on their static routes (Topology::spray_pools) instead of
   * individual links.
   */
  bool sprays() const { return policy == "spray"; }
  /** Returns whether the policy needs weft's own network model. */
  bool needs_own_network() const;
};
const std::vector<Option<RoutingModel>>& routing_options();

/** Returns the names of the policies. */
std::vector<std::string> routing_policies();

/** Reads the [routing] table of a fabric file; without one, routing is static. Throws UserError. */
RoutingModel read_routing(const OptionTable& file);

/** Creates a policy in its initial state. @p topology must outlive it. */
std::unique_ptr<RoutingPolicy> make_routing_policy(const RoutingModel& model, const Topology& topology);

} // namespace weft
