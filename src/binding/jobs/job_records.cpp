// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/jobs/job_records.hpp"

#include "binding/observe/profile.hpp"

#include <algorithm>
#include <iterator>

namespace weft {
namespace {

bool has_failed(const Job& job)
{
  return job.failed || job.outcome.kind == "exit";
}

} // namespace

Outcome outcome_of(const Jobs& jobs)
{
  const auto failed = static_cast<std::size_t>(std::ranges::count_if(jobs.all(), has_failed));
  if (failed == 0)
    return {};
  const Job& first = *std::ranges::find_if(jobs.all(), has_failed);
  if (jobs.all().size() == 1)
    return first.outcome;
  const std::string others =
      failed == 1 ? "" : " (" + std::to_string(failed) + " of " + std::to_string(jobs.all().size()) + " jobs failed)";
  return {"job-failed", "job " + first.name + ": " + first.outcome.message + others};
}

int status_of(const Jobs& jobs)
{
  const auto first = std::ranges::find_if(jobs.all(), has_failed);
  return first == jobs.all().end() ? 0 : first->status;
}

Json jobs_to_json(const Jobs& jobs, const Record& record, const std::map<std::string, std::string>& algorithms,
                  double now)
{
  return rows_of(jobs.all(), [&](const Job& job) -> Json {
    const bool begun = not job.actors.empty();
    const double end = job.over() ? job.end : std::max(now, job.start);
    return {{"name", job.name},
            {"ranks", job.ranks},
            {"hosts_used", job.hosts ? job.hosts->size() : 0},
            {"start_s", job.start},
            {"end_s", begun ? Json(end) : Json()},
            {"outcome", outcome_to_json(job.outcome)},
            {"exit_status", job.status},
            {"profile", begun ? Profile::get().kinds_to_json(end, job.actors) : Json::array()},
            {"collectives", record.calls_to_json(algorithms, job.world)}};
  });
}

} // namespace weft
