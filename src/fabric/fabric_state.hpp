// SPDX-License-Identifier: LGPL-2.1-only
/* Mutable state of an immutable Fabric while a program runs: which links and switches are up. A link is up if its
 * direction of the cable and the switches at both ends are up.
 *
 * All routes come from the state. Values computed from a state (trees, plans, predictions) are kept in a StateCache, or
 * with the epoch of the state, and recomputed after a change.
 */
#pragma once

#include "fabric/fabric.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

namespace weft {

/** Version of the state: every failure or repair begins a new epoch. */
using FabricEpoch = std::uint64_t;

class FabricState {
  const Fabric* fabric_;
  std::set<LinkId> links_down_;
  std::set<int> switches_down_; // by index
  std::vector<bool> is_down_; // by link: down itself, or a switch at one of its ends is; empty until the first failure
  FabricEpoch epoch_ = 0;

  bool set_up(std::set<int>& down, int what, bool up);
  void update(LinkId link);

public:
  /** State in which everything is up. @p fabric must outlive it. The conversion is implicit, for callers without
   * failures. */
  FabricState(const Fabric& fabric) : fabric_(&fabric) {} // NOLINT(google-explicit-constructor)

  const Fabric& fabric() const { return *fabric_; }
  FabricEpoch epoch() const { return epoch_; }
  bool all_up() const { return links_down_.empty() && switches_down_.empty(); }

  /** Sets one direction of a cable. */
  void set_link(LinkId link, bool up);
  void set_switch(int index, bool up);

  bool switch_is_up(int index) const { return not switches_down_.contains(index); }
  bool link_is_up(LinkId link) const { return is_down_.empty() || not is_down_[static_cast<std::size_t>(link)]; }
  /** Returns whether both directions of a link's cable are up, as required by traffic up and down a tree. */
  bool cable_is_up(LinkId link) const { return link_is_up(link) && link_is_up(reverse(link)); }
  bool is_up(const Route& route) const;
  /** Appends the route between two vertices; returns whether every link of it is up. */
  bool route(VertexId from, VertexId to, Route& into) const;
};

/** Value computed from a FabricState and recomputed after the state has changed. Users who hold a value keep that
 * version. */
template <class Value> class StateCache {
  std::shared_ptr<const Value> value_;
  FabricEpoch epoch_ = 0;

public:
  /** Returns whether there is a value for the current state. */
  bool is_current(const FabricState& state) const { return value_ && epoch_ == state.epoch(); }

  /** Returns the value for @p state, calling @p compute if it is out of date. */
  template <class Compute> const std::shared_ptr<const Value>& get(const FabricState& state, Compute&& compute)
  {
    if (not is_current(state)) {
      value_ = std::make_shared<const Value>(compute());
      epoch_ = state.epoch();
    }
    return value_;
  }
};

} // namespace weft
