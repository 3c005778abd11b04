// SPDX-License-Identifier: LGPL-2.1-only
/* Jobs in the record of a run. */
#pragma once

#include "binding/jobs/jobs.hpp"
#include "binding/observe/json/json.hpp"
#include "binding/observe/record.hpp"
#include "network/job_traffic.hpp"

#include <functional>
#include <map>
#include <string>

namespace weft {

/** Returns the run's outcome: its only job's outcome, or the jobs that have failed. */
Outcome outcome_of(const Jobs& jobs);

/** Returns the exit status of the run: the status of the first failed job in the list. */
int status_of(const Jobs& jobs);

/** Facts about a run that its jobs' rows need. */
struct JobsRun {
  const Jobs& jobs;
  const Record& record;
  const std::map<std::string, std::string>& algorithms; ///< as in RecordRun
  const Fabric& fabric;
  const JobTraffic& traffic;
  std::function<double(LinkId)> bytes_on_link; ///< of all jobs
  double now;
};

/** Returns a row of the record for each job. */
Json jobs_to_json(const JobsRun& run);

/** Returns a row of the record for each spawned world; null if there are none. */
Json spawned_to_json(const Jobs& jobs, const Fabric& fabric);

} // namespace weft
