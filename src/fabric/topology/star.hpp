// SPDX-License-Identifier: LGPL-2.1-only
/* Star: one switch with a cable to each host. Cable h belongs to host h. */
#pragma once

#include "fabric/topology/topology.hpp"

namespace weft {

class Star : public Topology {
  int hosts_;

public:
  /** @p hosts >= 1. */
  explicit Star(int hosts);

  int host_count() const override { return hosts_; }
  int switch_count() const override { return 1; }
  std::vector<Cable> cables() const override;
  Hop next_hop(VertexId at, VertexId to) const override;
  std::vector<int> spray_pools() const override { return std::vector<int>(2 * static_cast<std::size_t>(hosts_), -1); }
  int diameter() const override { return 2; }
  std::vector<VertexId> meeting_switches(std::span<const VertexId> hosts) const override;
  std::unique_ptr<const ForwardingHash> forwarding_hash() const override;
  std::string switch_name(int index) const override;
};

TopologyKind star_kind();

} // namespace weft
