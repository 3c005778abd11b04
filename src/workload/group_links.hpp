// SPDX-License-Identifier: LGPL-2.1-only
/* Links of groups within a node: which groups share them with no other group, so that a collective takes a time that
 * depends on its ranks' starts alone, and which groups have equal links.
 *
 * The links of a group are those of the routes between its ranks on a node. Messages from one node to another may use
 * them, too (a GPU reaches its NIC over the NVSwitch): they are limited by narrower links, and cannot disturb a group
 * whose calls take the same time without what these can carry. note_message() collects these messages, and
 * left_for_groups() returns what they leave. */
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
    int wiring; ///< equal for groups with equal links
    std::vector<int>
        resources; ///< in the order of their first use by pairs of ranks; of equal length if wiring is equal
  };

private:
  const std::vector<double>& capacities_;
  std::map<std::pair<std::uint32_t, int>, Own> own_; // by division and group
  std::vector<bool> owned_;                          // by resource
  std::vector<std::vector<int>> necks_;              // by resource: narrowest links of messages of others over it
  bool is_shared_ = false;

  double capacity(int resource) const { return capacities_[static_cast<std::size_t>(resource)]; }

public:
  /** @p hosts by rank; @p gpus: consecutive hosts that are a node; @p capacities by resource, which must outlive the
   * object; @p unsteady: resources that are no group's own, since their capacities change. */
  GroupLinks(const Workload& workload, const std::vector<int>& hosts, int gpus, MessageRoutes& routes,
             const std::vector<double>& capacities, const std::vector<int>& unsteady = {});
  /** Returns a group's own links; null if it has none. */
  const Own* own(std::uint32_t division, int group) const;
  /** Notes that a message of nobody with links of its own takes a route. */
  void note_message(const std::vector<int>& resources);
  /** Returns whether a message has used links of a group that is not limited by other links. */
  bool is_shared() const { return is_shared_; }
  /** Returns whether a group has links over which messages of others went. */
  bool is_crossed() const;
  /** Returns the capacities of all resources as messages of others leave them to groups: of equal links of groups, the
   * least. Links of which they may not get what they need beside @p flows flows of a group have none left. */
  std::vector<double> left_for_groups(int flows) const;
};

} // namespace weft
