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
  int count_   = 0;
  int running_ = 0;
  std::set<const simgrid::s4u::Host*> hosts_;
  std::unordered_set<aid_t> ended_;
  std::function<void(aid_t)> on_end_;
  std::function<void()> on_exit_;

public:
  /** Starts watching ranks. @p on_end runs in the context of each rank that ends by itself, and @p on_exit afterwards
   * in the context of each rank that ends. */
  void watch(const Network& network, std::function<void(aid_t)> on_end, std::function<void()> on_exit);
  /** Records that a rank has ended by itself. */
  void has_ended(aid_t rank) { ended_.insert(rank); }

  /** Returns the number of ranks that have started. */
  int count() const { return count_; }
  int running() const { return running_; }
  /** Returns the number of hosts on which ranks have run. */
  int hosts() const { return static_cast<int>(hosts_.size()); }
  /** Returns the ranks that have ended by themselves. */
  const std::unordered_set<aid_t>& ended() const { return ended_; }
};

} // namespace weft
