// SPDX-License-Identifier: LGPL-2.1-only
/* A collective of some of the ranks that does not block, within one of all of them. */
#pragma once

#include "collective/hosts/host_call.hpp"

#include <vector>

namespace weft {

/** A rank's part of a collective of some ranks, which it may leave at a wait and come back to. */
class BackgroundCall {
  std::vector<Step> steps_; // with the numbers of all ranks; what is posted is waited for in steps of its own
  std::size_t posted_ = 0;  // so many steps, after which nothing is posted
  std::size_t next_   = 0;
  std::vector<Request> requests_; // as the whole schedule counts them

public:
  BackgroundCall() = default; ///< in which the rank has no part
  /** As among() has them (within_nodes.hpp). */
  BackgroundCall(const std::vector<int>& ranks, const HostCall& inner, int place, MakeSchedule otherwise);

  // Each takes this object's steps; one after the other.
  Schedule start();    ///< until it has to wait
  Schedule post_all(); ///< until it has posted all messages, waiting for those before
  Schedule finish();

private:
  Schedule proceed(std::size_t until, bool waiting);
};

} // namespace weft
