// SPDX-License-Identifier: LGPL-2.1-only
/* Jobs of a run: the MPI programs that it simulates, each with its own MPI_COMM_WORLD.
 *
 * smpirun launches one job, which is known before it starts. A SimGrid program may start several,
 * which are known from their first collective on. SMPI distinguishes their ranks by a property of
 * the actors, "instance_id". */
#pragma once

#include "binding/ranks/actor_map.hpp"

#include <deque>
#include <optional>
#include <simgrid/s4u/Actor.hpp>
#include <string>
#include <unordered_set>
#include <vector>

namespace weft {

/** MPI program of a run. */
struct Job {
  /** SMPI's name of the program that smpirun launches. */
  static constexpr const char* LAUNCHED = "smpirun";

  std::string name;                        ///< SMPI's name, which identifies its ranks
  std::string program                = {}; ///< executable; empty if a SimGrid program starts the ranks
  std::vector<std::string> arguments = {};
  int ranks                          = 0;
  /// Names of the hosts that its ranks are placed on; nothing if SMPI places them.
  std::optional<std::unordered_set<std::string>> hosts = {};
  int world = -1; ///< number of its MPI_COMM_WORLD, in the order of the jobs' first collectives; -1: none yet
};

/** Jobs of a run, and the job of each rank. */
class Jobs {
  std::deque<Job> all_; // deque: references to elements stay valid
  ActorMap<Job*> of_actor_;
  int worlds_ = 0;

  Job& named(const std::string& name);

public:
  /** Adds a job before it starts. */
  const Job& add(Job job);
  /** Returns the job of the current rank. Called from collectives only, since it numbers the worlds
   * in their order. */
  const Job& of_current_rank();
  const std::deque<Job>& all() const { return all_; }
  /** Returns the number of ranks of all known jobs. */
  int ranks() const;
};

} // namespace weft
