// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/run/run_context.hpp"

#include "base/error.hpp"
#include "binding/file_locks/file_locks.hpp"
#include "binding/jobs/job_records.hpp"
#include "binding/jobs/stopped_ranks.hpp"
#include "binding/messages/mpi_costs.hpp"
#include "binding/observe/call_trace.hpp"
#include "binding/observe/profile.hpp"
#include "binding/observe/record_run.hpp"
#include "binding/process/blocked_rank.hpp"
#include "binding/process/process.hpp"
#include "binding/process/process_exit.hpp"
#include "binding/process/stacks.hpp"
#include "binding/ranks/current.hpp"
#include "binding/run/diagnosis.hpp"
#include "binding/run/progress_page.hpp"
#include "binding/settings/settings.hpp"
#include "binding/settings/tunings.hpp"
#include "binding/threads/program_threads.hpp"
#include "descriptions/packet_rows.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

constexpr const char* OUT_OF_STACK = "stack-overflow";
/** Prefix of errors about algorithms of the hosts. */
constexpr const char* FALLBACK = "--fallback: ";

/** Ranks of a world. */
struct RanksOfWorld {
  std::vector<int> ranks;
  std::string world; ///< empty for the job's initial world
};

/** Ranks by the number of their spawned world; 0 for the job's initial world. */
using RanksByWorld = std::map<int, RanksOfWorld>;

/** Returns the ranks on a host, by job; null is the key of ranks that smpirun has started. */
std::map<Job*, RanksByWorld> ranks_on(const sg::Host& host, const Jobs& jobs)
{
  std::map<Job*, RanksByWorld> ranks;
  for (const sg::ActorPtr& actor : host.get_all_actors())
    if (const char* rank = actor->get_property("rank")) {
      const SpawnedWorld* const spawned = jobs.spawned_of(actor->get_pid());
      auto& those                       = ranks[jobs.of(actor->get_pid())][spawned ? spawned->number : 0];
      those.ranks.push_back(std::stoi(rank));
      those.world = spawned ? " of " + spawned->text() : "";
    }
  return ranks;
}

/** Returns sentences about the hosts of a job that have failed, if its ranks are not actors. */
std::vector<std::string> dead_hosts_of(const Job& job, const std::map<int, Seconds>& hosts, const Fabric& fabric)
{
  std::vector<std::string> sentences;
  for (const auto& [host, since] : hosts)
    if (const std::string name = fabric.topology().host_name(host); job.hosts && job.hosts->contains(name))
      sentences.push_back("host " + name + " failed at " + to_text(since) + ", and with it a rank of the job");
  return sentences;
}

std::string describe_dead_host(const std::string& name, Seconds since, const RanksByWorld& ranks)
{
  std::vector<std::string> worlds;
  for (const auto& [number, those] : ranks) {
    std::vector<std::string> numbers;
    numbers.reserve(those.ranks.size());
    for (const int rank : those.ranks)
      numbers.push_back(std::to_string(rank));
    worlds.push_back((numbers.size() > 1 ? "ranks " : "rank ") + join(numbers) + those.world);
  }
  return "host " + name + " failed at " + to_text(since) + ", and with it " + join(worlds, " and ");
}

} // namespace

RunContext::RunContext(FabricState& its_state, Network& its_network, Jobs& its_jobs, OffloadMode its_mode,
                       const std::string& record_path, bool keep_events)
    : record_file_(record_path), fabric(its_state.fabric()), state(its_state), network(its_network), jobs(its_jobs),
      core_noise(fabric, its_network), mode(its_mode), stage_algorithms(HostStageAlgorithms::of(fabric.nic())),
      selector(state, mode, jobs, algorithms, hosts_fallback, [this]() -> const MessageCosts& { return costs(); }),
      communicators(fabric, network, jobs)
{
  for (int index = 0; index < fabric.switch_count(); ++index)
    switches.emplace_back(fabric.switch_model(index));
  record.keep_events         = keep_events;
  Profile::get().keep_slices = keep_events;
  ranks_.watch(
      network, [this](aid_t rank) { rank_ended(rank); },
      [this] {
        if (not at_last_exit.empty() && ranks_.running() == 0 && ranks_.count() == jobs.ranks())
          for (const auto& action : at_last_exit)
            action();
      });
  if (not settings().calls.empty())
    CallTrace::begin(settings().calls);
  if (not settings().durations.empty())
    record.durations.emplace();
  ProgressPage::follow_run(settings().progress);
  watch_process();
  end_blocked_ranks([this](const std::string& message) { abort("blocked", message); });
  if (record_file_.wanted())
    watch_crashes(record_path + ".crashed");
  sg::Engine::on_simulation_end_cb([this] {
    check_stacks();
    write_record();
    if (CallTrace::get())
      CallTrace::get()->end();
  });
  sg::Engine::on_deadlock_cb([this] {
    if (jobs.are_own())
      end_deadlocked_jobs();
    const auto all = [](aid_t) { return true; };
    abort("deadlock", describe_deadlock(communicators, all, describe_waits(all)));
  });
}

const MessageCosts& RunContext::costs()
{
  if (not costs_)
    costs_ = message_costs(fabric, network);
  return *costs_;
}

HostNetwork& RunContext::host_network()
{
  if (not host_network_) {
    host_network_             = make_host_network(costs());
    host_network_->core_noise = &core_noise;
    host_network_->refuse     = [this](const std::string& why, std::optional<int> world) {
      if (Job* const job = world && not rank_here() ? jobs.launched(*world) : nullptr)
        stop_job(*job, {"refused", FALLBACK + why}, 1);
      else
        refuse_fallback(why);
    };
    if (progress_of(fabric.mpi()) == Progress::calls)
      host_network_->advance_by_calls();
  }
  return *host_network_;
}

void RunContext::refuse_fallback(const std::string& why)
{
  abort("refused", FALLBACK + why);
}

void RunContext::rank_ended(aid_t rank)
{
  ranks_.has_ended(rank);
  release_file_locks(rank);
  if (const Communicator* communicator = waiting_for(communicators, rank))
    check_members(*communicator);
  if (SpawnedWorld* const spawned = jobs.spawned_of(rank); spawned && ++spawned->ended_ranks == spawned->ranks())
    spawned->end = sg::Engine::get_clock();
  if (Job* const job = jobs.of(rank); job && job->own_launcher)
    job_rank_ended(*job);
}

// SMPI's algorithms crash on a message to a rank that has ended; a stream would wait for it forever.
void RunContext::check_members(const Communicator& communicator)
{
  if (const auto missing = describe_missing_rank(communicator, ranks_.ended()))
    abort("mismatch", *missing);
}

// A stack overflow may have caused any other error, so it is reported first.
void RunContext::check_stacks()
{
  if (const auto rank = rank_out_of_stack())
    abort(OUT_OF_STACK, "rank " + std::to_string(*rank) +
                            " overflowed its stack and may have overwritten data of other ranks; " +
                            advise_on_stack(stacks_made()->bytes));
}

void RunContext::write_record()
{
  if (jobs.are_own() && record.outcome.kind == "completed")
    record.outcome = outcome_of(jobs);
  if (not record_file_.wanted())
    return;
  Profile::get().stop();
  std::vector<const RecordPart*> parts = record_parts;
  for (const auto& mechanism : selector.mechanisms())
    if (const RecordPart* part = mechanism->report())
      parts.push_back(part);
  const double now = sg::Engine::get_clock();
  const RecordRun run{fabric,
                      mode,
                      ranks_.count(),
                      ranks_.hosts(),
                      now,
                      switches,
                      std::move(parts),
                      [this](LinkId link) { return network.bytes_on_link(link); },
                      [this](int index) { return network.lookups(index); },
                      algorithms,
                      stacks_made(),
                      tunings_off(),
                      poll_overhead(fabric),
                      jobs_of_record(now),
                      spawned_to_json(jobs, fabric),
                      resolution_of_record(),
                      packets_of_record()};
  record_file_.write([&](std::ostream& file) { record.write_json(run, file); });
  write_durations();
}

void RunContext::write_durations() const
{
  if (not record.durations)
    return;
  const auto name = [this](int world) {
    const auto job = std::ranges::find(jobs.all(), world, &Job::world);
    return job == jobs.all().end() ? std::string() : job->name;
  };
  RecordFile(settings().durations).write([&](std::ostream& file) { record.durations->write(name, file); });
}

/** Returns the use of the network's time resolution; null if it had no effect. */
Json RunContext::resolution_of_record() const
{
  const FlowNetwork::Work work = host_network_ ? host_network_->work() : FlowNetwork::Work();
  if (work.merged == 0 && work.queued == 0)
    return {};
  return {{"asked", to_text(fabric.resolution())},
          {"longest_s", work.longest},
          {"merged_updates", work.merged},
          {"most_flows", work.crowd},
          {"queued", work.queued}};
}

/** Returns the work counters of the packet network; null if messages are flows. */
Json RunContext::packets_of_record() const
{
  if (not fabric.packets().carries())
    return {};
  const PacketNetwork::Work* const done = host_network_ ? host_network_->packet_work() : nullptr;
  const PacketNetwork::Work work        = done ? *done : PacketNetwork::Work();
  return packet_row(fabric.packets(), work);
}

Json RunContext::jobs_of_record(double now) const
{
  if (not traffic)
    return {};
  return jobs_to_json(
      {jobs, record, algorithms, fabric, *traffic, [this](LinkId link) { return network.bytes_on_link(link); }, now});
}

void RunContext::abort(const std::string& kind, const std::string& its_message, int status)
{
  if (kind != OUT_OF_STACK)
    check_stacks();
  const SpawnedWorld* const spawned = rank_here() ? jobs.spawned_of(current_actor()) : nullptr;
  const std::string message         = spawned ? "in " + spawned->text() + ", " + its_message : its_message;
  Job* const job = kind == OUT_OF_STACK || is_forked_child() || not rank_here() ? nullptr : jobs.of(current_actor());
  if (job && job->own_launcher) {
    if (is_other_thread())
      leave_on_simgrids_thread([&] { leave_job(*job, {kind, message}, status); });
    leave_job(*job, {kind, message}, status);
  }
  end_run({kind, message}, status);
}

void RunContext::abort_on(const Communicator& communicator, const std::string& message)
{
  if (Job* const job = jobs.launched(communicator.world); job && not rank_here())
    stop_job(*job, {"network-failure", message}, 1);
  else
    abort("network-failure", message);
}

void RunContext::hosts_died(const std::map<int, Seconds>& hosts)
{
  std::map<Job*, std::vector<std::string>> dead; // sentences by job; null is the key of ranks that smpirun has started
  for (const auto& [host, since] : hosts)
    if (const sg::Host* const place = network.host_at(host)) // otherwise no rank uses it
      for (const auto& [job, ranks] : ranks_on(*place, jobs))
        dead[job].push_back(describe_dead_host(place->get_name(), since, ranks));
  if (const auto found = dead.find(nullptr); found != dead.end())
    abort("host-failure", join(found->second, "; "));
  for (Job& job : jobs.all()) {
    std::vector<std::string> why = std::move(dead[&job]);
    if (job.work && not job.actors.empty())
      why = dead_hosts_of(job, hosts, fabric);
    if (not why.empty())
      stop_job(job, {"host-failure", join(why, "; ")}, 1);
  }
}

void RunContext::check_hosts()
{
  if (hosts_down)
    hosts_died(hosts_down());
}

void RunContext::end_run(const Outcome& outcome, int status)
{
  record.outcome = outcome;
  write_record();
  // If there is a record, its reader shows the error.
  if (not record_file_.wanted())
    std::fprintf(stderr, "weft: %s\n", outcome.message.c_str());
  leave_process(status);
}

// ---- Jobs of the launcher -----------------------------------------------------------------------------------------

std::string RunContext::describe_waits(const ConcernsRank& concerns) const
{
  return (describe_messages ? describe_messages(concerns) : "") + (describe_files ? describe_files(concerns) : "") +
         (describe_meetings ? describe_meetings(concerns) : "") + describe_lock_waits(concerns);
}

const HostFallback& RunContext::fallback_of(const Communicator& communicator) const
{
  const Job* const job = jobs.launched(communicator.world);
  return job && job->fallback ? *job->fallback : hosts_fallback;
}

void RunContext::note_exit(const std::string& message, int status)
{
  Job* const job                    = jobs.of(current_actor());
  const bool own                    = job && job->own_launcher;
  Outcome& outcome                  = own ? job->outcome : record.outcome;
  const SpawnedWorld* const spawned = jobs.spawned_of(current_actor());
  if (outcome.kind == (own ? Job::RUNNING : "completed"))
    outcome = {"exit", spawned ? "in " + spawned->text() + ", " + message : message};
  if (own && job->status == 0)
    job->status = status;
}

void RunContext::leave_job(Job& job, const Outcome& outcome, int status)
{
  stop_job(job, outcome, status);
  stay_stopped();
}

void RunContext::stop_job(Job& job, const Outcome& outcome, int status)
{
  if (job.failed)
    return;
  job.failed  = true;
  job.outcome = outcome;
  job.status  = status;
  job.end     = sg::Engine::get_clock();
  for (const aid_t actor : job.actors)
    Profile::get().rank_ends(actor); // although it may be inside a call
  stop_ranks(job);
  for (const aid_t actor : job.actors)
    release_file_locks(actor);
  release_switches(job);
  if (job.work)
    job.work->stop(outcome);
  if (jobs.are_over())
    end_all_jobs();
}

void RunContext::release_switches(const Job& job)
{
  communicators.release_world(job.world);
  for (Aggregation& one : switches)
    one.release_job(job.world);
}

void RunContext::job_rank_ended(Job& job)
{
  if (++job.ended_ranks < job.actors_at_start() + job.spawned_ranks)
    return;
  job.end = sg::Engine::get_clock();
  release_switches(job); // later jobs may get its channels
  if (job.outcome.kind == Job::RUNNING)
    job.outcome = {};
  // The ranks of failed jobs are suspended, so the engine would not end by itself.
  if (jobs.are_over() && std::ranges::any_of(jobs.all(), &Job::failed))
    end_all_jobs();
}

void RunContext::end_deadlocked_jobs()
{
  for (Job& job : jobs.all()) {
    if (job.over())
      continue;
    const auto of_job = [this, &job](aid_t actor) { return jobs.of(actor) == &job; };
    job.failed        = true;
    job.outcome = {"deadlock",
                   job.work ? job.work->waits() : describe_deadlock(communicators, of_job, describe_waits(of_job))};
    job.status  = 1;
    job.end     = sg::Engine::get_clock();
    if (job.work)
      job.work->stop(job.outcome);
  }
  end_all_jobs();
}

void RunContext::end_all_jobs()
{
  end_run(outcome_of(jobs), status_of(jobs));
}

} // namespace weft
