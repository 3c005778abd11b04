// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/launch/job_file.hpp"

#include "base/error.hpp"
#include "binding/process/process.hpp"
#include "binding/ranks/actor_map.hpp"
#include "binding/ranks/current.hpp"
#include "binding/training/training_job.hpp"
#include "descriptions/workload_file.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

namespace weft {
namespace {

using JobJson = nlohmann::json;

/** Returns the iteration of a training job; {workload: a file, library, detail, sms}. */
JobWork* training_of(const JobJson& its, Job& job, const std::vector<std::string>& hosts)
{
  IterationOptions options{.library     = its.at("library"),
                           .execute_all = true, // others may use any link
                           .detail      = find_named<CallDetail>(its.at("detail").get<std::string>()).value(),
                           .sms         = its.at("sms")};
  return new TrainingJob(job, read_workload(its.at("workload")), std::move(options),
                         hosts); // lives as long as the process
}

JobLaunch launch_of(const JobJson& its, Jobs& jobs)
{
  Job job{its.at("name")};
  job.program       = its.at("program");
  job.arguments     = its.at("arguments").get<std::vector<std::string>>();
  job.own_launcher  = true;
  job.start         = its.at("start_s");
  job.weight        = its.at("weight");
  auto hosts        = its.at("hosts").get<std::vector<std::string>>();
  job.fallback_text = its.at("fallback");
  job.ranks         = static_cast<int>(hosts.size());
  job.hosts.emplace(hosts.begin(), hosts.end());
  Job& added = jobs.add(std::move(job));
  if (its.contains("training"))
    added.work = training_of(its.at("training"), added, hosts);
  return {added,
          added.program,
          added.arguments,
          its.at("file"),
          its.at("copies"),
          its.at("private_libraries").get<Lines>(),
          its.at("environment").get<std::vector<std::pair<std::string, std::string>>>(),
          std::move(hosts),
          its.at("offload"),
          its.at("output"),
          its.at("error")};
}

ActorMap<const JobLaunch*>& launches_of_ranks()
{
  static auto* const ALL =
      new ActorMap<const JobLaunch*>; // leaked, since ranks may still run while static objects are destroyed
  return *ALL;
}

} // namespace

const JobLaunch* launch_here()
{
  return rank_here() ? launches_of_ranks().get(current_actor()) : nullptr;
}

void note_launch(aid_t actor, const JobLaunch& launch)
{
  launches_of_ranks()[actor] = &launch;
}

std::deque<JobLaunch>& launches()
{
  static auto* const ALL = new std::deque<JobLaunch>; // leaked for the same reason
  return *ALL;
}

void read_jobs(const std::string& path, Jobs& jobs)
{
  std::ifstream file(path);
  try {
    for (const JobJson& one : JobJson::parse(file))
      launches().push_back(launch_of(one, jobs));
  } catch (const JobJson::exception& error) {
    throw UserError("WEFT_JOBS: " + path + " is no description of jobs: " + error.what());
  }
}

} // namespace weft
