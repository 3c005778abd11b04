// SPDX-License-Identifier: LGPL-2.1-only
/* Jobs of a run: the MPI programs that it simulates, each with its own MPI_COMM_WORLD.
 *
 * smpirun launches one job, and weft's own launcher any number of them (binding/launch); both are known before they
 * start. A SimGrid program may start several, which become known with their first collective. SMPI distinguishes their
 * ranks by a property of the actors, "instance_id".
 *
 * The ranks of a training iteration are not processes: one actor of its job represents all of them (JobWork).
 *
 * Ranks of a job may spawn further worlds (MPI_Comm_spawn): these belong to the job, count as its traffic, end with it,
 * and have an MPI_COMM_WORLD of their own.
 *
 * If a job of the launcher fails, it ends alone: the other jobs continue, and the run ends with the last of them. */
#pragma once

#include "binding/observe/record.hpp"
#include "binding/ranks/actor_map.hpp"
#include "collective/host/fallback.hpp"
#include "model/mechanism/offload_mode.hpp"

#include <deque>
#include <optional>
#include <simgrid/s4u/Actor.hpp>
#include <string>
#include <unordered_set>
#include <vector>

namespace weft {

class RunContext;

/** Work of a job whose ranks are not processes. */
class JobWork {
public:
  JobWork()                          = default;
  JobWork(const JobWork&)            = delete;
  JobWork& operator=(const JobWork&) = delete;
  virtual ~JobWork()                 = default;
  /** Executes the work, in the context of the job's actor. */
  virtual void run(RunContext& context) = 0;
  /** Records that the job has been stopped. */
  virtual void stop(const Outcome& outcome) = 0;
  /** Describes the pending waits, for errors when no further event can happen. */
  virtual std::string waits() const = 0;
  /** Adds results to the job's row of the record. */
  virtual void add_to(Json& row) const = 0;
};

/** MPI program of a run, or a training iteration. */
struct Job {
  /** SMPI's name of the program that smpirun launches. */
  static constexpr const char* LAUNCHED = "smpirun";
  /** Outcomes of a job before its end. */
  static constexpr const char* WAITING = "not-started";
  static constexpr const char* RUNNING = "unfinished";

  std::string name;                        ///< SMPI's name, which identifies its ranks
  std::string program                = {}; ///< executable; empty if a SimGrid program starts the ranks
  std::vector<std::string> arguments = {};
  int ranks                          = 0;
  /// Names of the hosts on which its ranks are placed; nothing if SMPI places them.
  std::optional<std::unordered_set<std::string>> hosts = {};
  int world = -1; ///< number of its MPI_COMM_WORLD, in the order of the jobs' first collectives; -1: none yet

  // Only jobs of the launcher:
  bool own_launcher                    = false;
  double start                         = 0;  ///< simulated time at which its ranks begin
  double weight                        = 1;  ///< its weight on links that are shared by job
  std::optional<OffloadMode> mode      = {}; ///< instead of the run's
  std::string fallback_text            = {}; ///< as written in the file
  std::optional<HostFallback> fallback = {}; ///< instead of the run's
  std::vector<aid_t> actors            = {}; ///< actors of its ranks that have begun, including those of spawned worlds
  int spawned_ranks                    = 0;  ///< ranks of spawned worlds, besides @p ranks
  int ended_ranks                      = 0;
  Outcome outcome                      = {WAITING, ""};
  int status                           = 0; ///< exit status
  double end                           = 0; ///< time of its end, once it is over

  bool failed = false; ///< true if its ranks no longer run

  JobWork* work = nullptr; ///< set for a job whose ranks are not processes; lives as long as the process

  /** Returns the number of actors with which the job begins. */
  int actors_at_start() const { return work ? 1 : ranks; }
  /** Returns whether it has failed, or all of its ranks have ended. */
  bool over() const { return failed || ended_ranks == actors_at_start() + spawned_ranks; }
};

/** World that ranks of a job have spawned. */
struct SpawnedWorld {
  /** Consecutive ranks of one program. */
  struct Part {
    std::string program;
    std::vector<std::string> arguments;
    int ranks;
  };

  Job& job;
  int number;       ///< from 1, in spawning order
  std::string name; ///< SMPI's name, which identifies its ranks
  std::vector<Part> parts;
  std::vector<int> hosts    = {}; ///< vertices in the fabric, by rank
  std::vector<aid_t> actors = {}; ///< by rank, once they have begun
  double spawned            = 0;  ///< simulated time of the spawning call
  double start              = 0;  ///< simulated time at which its ranks begin
  double end                = 0;  ///< time of its last rank's end, once all have ended
  int ended_ranks           = 0;

  int ranks() const { return static_cast<int>(hosts.size()); }
  bool over() const { return ended_ranks == ranks(); }
  /** Returns the index of the part to which a rank belongs, its MPI_APPNUM. */
  int part_of(int rank) const;
  /** Returns the name for error messages: "spawned world 1 (./worker)". */
  std::string text() const;
};

/** Jobs of a run, and the job of each rank. */
class Jobs {
  std::deque<Job> all_; // deque: references to elements stay valid
  std::deque<SpawnedWorld> spawned_;
  ActorMap<Job*> of_actor_;
  ActorMap<SpawnedWorld*> spawned_of_;
  int worlds_ = 0;

  Job& named(const std::string& name);

public:
  /** Adds a job before it starts. Worlds of the launcher's jobs are numbered in this order. */
  Job& add(Job job);
  /** Registers an actor as the next rank of @p job, which weft's launcher starts. */
  void begin_rank(Job& job, aid_t actor);
  /** Adds a world of @p job, whose ranks then count as ranks of the run. */
  SpawnedWorld& spawn(SpawnedWorld world);
  /** Registers an actor as the next rank of a spawned world. */
  void begin_rank(SpawnedWorld& world, aid_t actor);
  /** Returns the spawned world of an actor; null if it belongs to its job's initial world. */
  SpawnedWorld* spawned_of(aid_t actor) const { return spawned_.empty() ? nullptr : spawned_of_.get(actor); }
  const std::deque<SpawnedWorld>& spawned() const { return spawned_; }
  /** Returns the job of the current rank. Call it from collectives only, since it numbers the worlds in their order. */
  const Job& of_current_rank();
  /** Returns the launcher's job to which an actor belongs; null if there is none. */
  Job* of(aid_t actor) const { return of_actor_.get(actor); }
  /** Returns the number of an actor's world; 0 if weft's launcher did not start it. */
  int world_of(aid_t actor) const
  {
    const Job* const job = are_own() ? of(actor) : nullptr;
    return job ? job->world : 0;
  }
  /** Returns the number of the current rank's world; 0 if weft's launcher did not start it. */
  int world_of_current_rank() const;
  /** Returns the job with a world of this number; null if its ranks do not belong to the launcher. */
  Job* launched(int world);
  const Job* launched(int world) const;
  const std::deque<Job>& all() const { return all_; }
  std::deque<Job>& all() { return all_; }
  /** Returns whether weft's launcher starts the jobs. */
  bool are_own() const { return not all_.empty() && all_.front().own_launcher; }
  /** Returns whether all jobs of the launcher are over. */
  bool are_over() const;
  /** Returns the number of ranks that are actors, over all known jobs and their spawned worlds. */
  int ranks() const;
};

} // namespace weft
