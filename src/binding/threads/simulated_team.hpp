// SPDX-License-Identifier: LGPL-2.1-only
/* Teams of parallel regions whose members are simulated threads.
 *
 * The threads of OpenMP's pool are outside the simulation between regions. In a region, from its first instruction to
 * its last barrier, each is an actor, but the thread that begins the region, which is one already. OpenMP's start and
 * end of a team stay the system's. */
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
  std::atomic<std::uint32_t> size_{0};                    ///< of the team; 0 until its master has begun
  std::vector<std::unique_ptr<SimulatedThread>> members_; ///< other than the master, by their numbers - 1

  void execute_as_master(void (*code)(void*), void* data);
  void execute_as_member(void (*code)(void*), void* data);

public:
  /** Executes the region on one of its threads; @p is_master: on the one that has begun it. */
  void execute(bool is_master, void (*code)(void*), void* data);
};

} // namespace weft
