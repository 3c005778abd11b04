// SPDX-License-Identifier: LGPL-2.1-only
/* Ranks of a run: their start and end. */
#pragma once

#include "binding/platform/network.hpp"

#include <functional>
#include <set>
#include <simgrid/s4u.hpp>
#include <unordered_set>

namespace weft {

class Ranks {
  int count_ = 0;
  std::set<const simgrid::s4u::Host*> hosts_;
  std::unordered_set<aid_t> ended_;
  std::function<void(aid_t)> on_end_;

public:
  /** Starts watching ranks. @p on_end runs in the context of each rank that ends by itself. */
  void watch(const Network& network, std::function<void(aid_t)> on_end);
  /** Notes that a rank has ended by itself. */
  void has_ended(aid_t rank) { ended_.insert(rank); }

  int count() const { return count_; }
  /** Returns the number of hosts that ranks have run on. */
  int hosts() const { return static_cast<int>(hosts_.size()); }
  /** Returns the ranks that have ended by themselves. */
  const std::unordered_set<aid_t>& ended() const { return ended_; }
};

} // namespace weft
