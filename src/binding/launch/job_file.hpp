// SPDX-License-Identifier: LGPL-2.1-only
/* Jobs described by `weft run` in JSON (python/weft/runs/jobs/launch.py). */
#pragma once

#include "binding/jobs/jobs.hpp"
#include "binding/settings/settings.hpp"

#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/** Ranks of a program, a job's or spawned ones, with their start parameters. */
struct JobLaunch {
  Job& job;
  std::string program; ///< as passed to main()
  std::vector<std::string> arguments;
  std::string file; ///< executable to load
  bool copies;      ///< each rank gets its own copy of the program
  Lines private_libraries;
  std::vector<std::pair<std::string, std::string>> environment; ///< variables, in addition to the process's
  std::vector<std::string> hosts;                               ///< host of each rank
  std::string offload;                                          ///< empty: the run's mode
  std::string output;                                           ///< file of standard output; empty: the process's
  std::string error;
  std::string directory = {}; ///< working directory; empty: the process's
};

/** Returns the launch of the current rank; null if SMPI's launcher has started it. */
const JobLaunch* launch_here();
/** Records the launch of a rank that is about to start. */
void note_launch(aid_t actor, const JobLaunch& launch);

/** Returns the jobs of this process; empty unless read_jobs() has been called. */
std::deque<JobLaunch>& launches();

/** Reads the description, and adds its jobs to @p jobs, which must outlive the process. Throws UserError. */
void read_jobs(const std::string& path, Jobs& jobs);

} // namespace weft
