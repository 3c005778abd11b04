// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/jobs/job_records.hpp"

#include "binding/observe/json/json_rows.hpp"
#include "binding/observe/profile.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

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

namespace {

double part_of(double own, double all)
{
  return all > 0 ? own / all : 0;
}

double bytes_of_job(const JobsRun& run, int world, LinkId id)
{
  return run.fabric.bytes_on_link(id, [&](int counted) { return run.traffic.bytes_on_link(world, counted); });
}

Json job_links_to_json(const JobsRun& run, int world)
{
  Json rows = Json::array();
  for (LinkId id = 0; std::cmp_less(id, run.fabric.links().size()); ++id)
    if (const double own = bytes_of_job(run, world, id); own > 0)
      rows.push_back(
          {{"name", run.fabric.link(id).name}, {"bytes", own}, {"share", part_of(own, run.bytes_on_link(id))}});
  return rows;
}

/** Returns the switches entered by a job's traffic. */
Json job_switches_to_json(const JobsRun& run, int world)
{
  const auto switches = static_cast<std::size_t>(run.fabric.switch_count());
  std::vector<double> own(switches);
  std::vector<double> all(switches);
  for (LinkId id = 0; std::cmp_less(id, run.fabric.links().size()); ++id)
    if (const VertexId to = run.fabric.link(id).to; to >= run.fabric.host_count()) {
      const auto index = static_cast<std::size_t>(to - run.fabric.host_count());
      own[index] += bytes_of_job(run, world, id);
      all[index] += run.bytes_on_link(id);
    }
  Json rows = Json::array();
  for (std::size_t index = 0; index < switches; ++index) {
    const SwitchWork work = run.record.on_switch(world, static_cast<int>(index));
    if (own[index] > 0 || work.offloaded > 0)
      rows.push_back({{"name", run.fabric.topology().switch_name(static_cast<int>(index))},
                      {"bytes", own[index]},
                      {"share", part_of(own[index], all[index])},
                      {"offloaded", work.offloaded},
                      {"bytes_reduced", work.bytes_reduced},
                      {"bytes_multicast", work.bytes_multicast}});
  }
  return rows;
}

} // namespace

Json spawned_to_json(const Jobs& jobs, const Fabric& fabric)
{
  if (jobs.spawned().empty())
    return {};
  return rows_of(jobs.spawned(), [&](const SpawnedWorld& world) -> Json {
    Json hosts = Json::array();
    for (std::size_t rank = 0; rank < world.hosts.size(); ++rank)
      if (rank == 0 || world.hosts[rank] != world.hosts[rank - 1])
        hosts.push_back(fabric.topology().host_name(world.hosts[rank]));
    return {{"job", world.job.own_launcher ? world.job.name : ""},
            {"ranks", world.ranks()},
            {"programs", rows_of(world.parts,
                                 [](const SpawnedWorld::Part& part) -> Json {
                                   return {
                                       {"program", part.program}, {"arguments", part.arguments}, {"ranks", part.ranks}};
                                 })},
            {"hosts", std::move(hosts)},
            {"spawned_s", world.spawned},
            {"start_s", world.actors.empty() ? Json() : Json(world.start)},
            {"end_s", world.over() ? Json(world.end) : Json()}};
  });
}

Json jobs_to_json(const JobsRun& run)
{
  return rows_of(run.jobs.all(), [&](const Job& job) -> Json {
    const bool begun             = not job.actors.empty();
    const double end             = job.over() ? job.end : std::max(run.now, job.start);
    const JobTraffic::Sent& sent = run.traffic.sent(job.world);
    Json row{{"name", job.name},
             {"ranks", job.ranks},
             {"hosts_used", job.hosts ? job.hosts->size() : 0},
             {"start_s", job.start},
             {"end_s", begun ? Json(end) : Json()},
             {"outcome", outcome_to_json(job.outcome)},
             {"exit_status", job.status},
             {"profile", begun && not job.work ? Profile::get().kinds_to_json(end, job.actors) : Json::array()},
             {"collectives", run.record.calls_to_json(run.algorithms, job.world)},
             {"durations", run.record.durations_to_json(job.world)},
             {"messages", sent.messages},
             {"message_bytes", sent.bytes},
             {"links", job_links_to_json(run, job.world)},
             {"switches", job_switches_to_json(run, job.world)}};
    if (job.work && begun)
      job.work->add_to(row);
    return row;
  });
}

} // namespace weft
