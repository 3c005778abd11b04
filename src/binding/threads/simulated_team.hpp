// SPDX-License-Identifier: LGPL-2.1-only
/* Teams of parallel regions whose members are simulated threads.
 *
 * Between regions, the threads of OpenMP's pool are outside the simulation. From the first instruction of a region to
 * its last barrier, each is an actor, except the thread that begins the region, which already is one. OpenMP's start
 * and end of a team use the system's locks. */
#pragma once

#include "binding/threads/simulated_thread.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace weft {

class SimulatedTeam {
  std::atomic<std::uint32_t> size_{0};                    ///< size of the team; 0 until its master has begun
  std::vector<std::unique_ptr<SimulatedThread>> members_; ///< all except the master, by thread number - 1

  void execute_as_master(void (*code)(void*), void* data);
  void execute_as_member(void (*code)(void*), void* data);

public:
  /** Executes the region on one of its threads; @p is_master: on the thread that has begun it. */
  void execute(bool is_master, void (*code)(void*), void* data);
};

} // namespace weft
