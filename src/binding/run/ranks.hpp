// SPDX-License-Identifier: LGPL-2.1-only
/* The ranks of a run, as they come and go. */
#pragma once

#include "binding/platform/network.hpp"

#include <functional>
#include <set>
#include <simgrid/s4u.hpp>
#include <unordered_set>

namespace weft {

/** The name of the actors that speak for a rank while it computes (message granularity). */
constexpr const char* SPEAKER_NAME = "weft.speaker";

class Ranks {
  int count_ = 0;
  std::set<const simgrid::s4u::Host*> hosts_;
  std::unordered_set<aid_t> ended_;
  std::function<void(aid_t)> on_end_;

public:
  /** Watch them from now on. @p on_end runs where one comes to its end by itself, in its own context. */
  void watch(const Network& network, std::function<void(aid_t)> on_end);
  /** One has come to its end by itself. */
  void has_ended(aid_t rank) { ended_.insert(rank); }

  int count() const { return count_; }
  /** How many hosts they have run on. */
  int hosts() const { return static_cast<int>(hosts_.size()); }
  /** Those that came to their end by themselves. */
  const std::unordered_set<aid_t>& ended() const { return ended_; }
};

} // namespace weft
