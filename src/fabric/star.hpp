/* Star: one switch, a cable to each host.
 *
 * Host h's cable is links 2h (up, to the switch) and 2h + 1 (down).
 */
#pragma once

#include "fabric/topology.hpp"

namespace weft {

class Star : public Topology {
  int hosts_;
  LinkModel link_;

public:
  /** @p hosts >= 1. */
  Star(int hosts, LinkModel link);

  int host_count() const override { return hosts_; }
  int switch_count() const override { return 1; }
  int ports_used(int switch_index) const override;
  std::vector<Link> links() const override;
  void route(VertexId from, VertexId to, Route& into) const override;
  std::string switch_name(int index) const override;
};

TopologyKind star_kind();

} // namespace weft
