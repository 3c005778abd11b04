// SPDX-License-Identifier: LGPL-2.1-only
/* Jobs as `weft run` describes them, in JSON (python/weft/runs/jobs/launch.py). */
#pragma once

#include "binding/jobs/jobs.hpp"
#include "binding/settings/settings.hpp"

#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/** A job with the inputs of its start. */
struct JobLaunch {
  Job& job;
  std::string file; ///< executable to load
  bool copies;      ///< each rank gets its own copy of the program
  Lines private_libraries;
  std::vector<std::pair<std::string, std::string>> environment; ///< variables, in addition to the process's
  std::vector<std::string> hosts;                               ///< host of each rank
  std::string offload;                                          ///< empty: the run's
  std::string output;                                           ///< file of standard output; empty: the process's
  std::string error;
};

/** Returns the jobs of this process; empty unless read_jobs() has been called. */
std::deque<JobLaunch>& launches();

/** Reads the description, and adds its jobs to @p jobs, which must outlive the process. Throws UserError. */
void read_jobs(const std::string& path, Jobs& jobs);

} // namespace weft
