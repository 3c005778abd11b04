// SPDX-License-Identifier: LGPL-2.1-only
/* What of a fabric may change while a program runs, apart from the Fabric, which never does: which links and switches
 * are up. Whoever chooses a way asks here. A link is up where its cable's direction is and the switches at its ends
 * are. */
#pragma once

#include "fabric/fabric.hpp"

#include <set>

namespace weft {

class FabricState {
  const Fabric* fabric_;
  std::set<LinkId> links_down_;
  std::set<int> switches_down_; // by index

public:
  /** All is up. The fabric must outlive it. A fabric can stand for it where nothing changes. */
  FabricState(const Fabric& fabric) : fabric_(&fabric) {} // NOLINT(google-explicit-constructor)

  const Fabric& fabric() const { return *fabric_; }
  bool all_up() const { return links_down_.empty() && switches_down_.empty(); }

  /** One direction of a cable. */
  void set_link(LinkId link, bool up);
  void set_switch(int index, bool up);

  bool switch_is_up(int index) const { return not switches_down_.contains(index); }
  bool link_is_up(LinkId link) const;
  /** Both directions of its cable, as what goes up a tree and comes down again needs them. */
  bool cable_is_up(LinkId link) const { return link_is_up(link) && link_is_up(reverse(link)); }
  bool is_up(const Route& route) const;
};

} // namespace weft
