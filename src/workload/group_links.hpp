// SPDX-License-Identifier: LGPL-2.1-only
/* Links of groups within a node: finds the groups that share links with no other group, so that the time of a
 * collective depends only on when its ranks start, and the groups whose links are equal.
 *
 * The links of a group are the links on the routes between its ranks on a node. Messages between nodes may use them too
 * (a GPU reaches its NIC over the NVSwitch). Narrower links limit such messages, so they cannot disturb a group whose
 * calls take the same time with the remaining bandwidth. note_message() collects these messages, and left_for_groups()
 * returns the remaining bandwidth. */
#pragma once

#include "fabric/fabric.hpp"
#include "network/flow_network.hpp"
#include "workload/program.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace weft {

class GroupLinks {
public:
  /** Group with links of its own. */
  struct Own {
    int wiring;                 ///< equal for groups with equal links
    std::vector<int> resources; ///< in the order of their first use by pairs of ranks; equally many for equal wirings
  };

private:
  const std::vector<double>& capacities_;
  std::map<std::pair<std::uint32_t, int>, Own> own_; // by division and group
  std::vector<bool> owned_;                          // by resource
  std::vector<std::vector<int>> necks_;              // by resource: narrowest links of other messages over it
  bool is_shared_ = false;

  double capacity(int resource) const { return capacities_[static_cast<std::size_t>(resource)]; }

public:
  /** @p hosts by rank; @p gpus: number of consecutive hosts that form a node; @p capacities by resource, which must
   * outlive the object; @p unsteady: resources that no group owns, since their capacities change. */
  GroupLinks(const Workload& workload, const std::vector<int>& hosts, int gpus, MessageRoutes& routes,
             const std::vector<double>& capacities, const std::vector<int>& unsteady = {});
  /** Returns a group's own links; null if it has none. */
  const Own* own(std::uint32_t division, int group) const;
  /** Records the route of a message that does not belong to a group with links of its own. */
  void note_message(const std::vector<int>& resources);
  /** Returns whether such a message has used links of a group without being limited by other links. */
  bool is_shared() const { return is_shared_; }
  /** Returns whether such messages crossed links of a group. */
  bool is_crossed() const;
  /** Returns the capacities of all resources that remain for groups after other messages; for equal links of groups,
   * the minimum. The remainder is zero on links where these messages may not get the bandwidth that they need next to
   * @p flows flows of a group. */
  std::vector<double> left_for_groups(int flows) const;
};

} // namespace weft
