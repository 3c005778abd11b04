// SPDX-License-Identifier: LGPL-2.1-only
/* Jobs in the record of a run. */
#pragma once

#include "binding/jobs/jobs.hpp"
#include "binding/observe/json_rows.hpp"
#include "binding/observe/record.hpp"

namespace weft {

/** Returns the run's outcome: that of its only job, or which jobs have failed. */
Outcome outcome_of(const Jobs& jobs);

/** Returns the exit status of the run: that of the first job in the list that has failed. */
int status_of(const Jobs& jobs);

/** Returns a row of the record for each job. @p algorithms are those of the run's record. */
Json jobs_to_json(const Jobs& jobs, const Record& record, const std::map<std::string, std::string>& algorithms,
                  double now);

} // namespace weft
