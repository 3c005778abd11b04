// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/training/training_job.hpp"

#include "base/error.hpp"
#include "binding/observe/json/json_rows.hpp"
#include "binding/observe/profile.hpp"
#include "binding/run/run_context.hpp"

#include <simgrid/s4u/Actor.hpp>
#include <unordered_map>
#include <utility>

namespace weft {
namespace {

std::vector<int> numbers_of(const std::vector<std::string>& hosts, const Fabric& fabric)
{
  std::unordered_map<std::string, int> numbers;
  for (VertexId host = 0; host < fabric.host_count(); ++host)
    numbers.emplace(fabric.topology().host_name(host), host);
  std::vector<int> all;
  all.reserve(hosts.size());
  for (const std::string& host : hosts)
    all.push_back(numbers.at(host));
  return all;
}

/** Returns the record's section on an iteration that began at @p start. */
Json training_row(const IterationTimes& times, const Workload& workload, double start)
{
  Json parts = Json::array();
  for (const TimePart& part : parts_of(times.ranks, kinds_of(workload), times.end))
    parts.push_back({{"name", part.name}, {"mean_s", part.mean}, {"most_s", part.most}});
  return {{"time_s", times.end - start},
          {"parts", std::move(parts)},
          {"calls", times.calls},
          {"algorithms", times.algorithms}};
}

} // namespace

TrainingJob::TrainingJob(Job& job, Workload workload, IterationOptions options, std::vector<std::string> hosts)
    : job_(job), workload_(std::move(workload)), options_(std::move(options)), hosts_(std::move(hosts))
{
}

void TrainingJob::run(RunContext& context)
{
  Profile::get().rank_ends(simgrid::s4u::this_actor::get_pid()); // it is not a rank of an MPI program
  context_ = &context;
  over_    = simgrid::s4u::Semaphore::create(0);
  context.host_network().begin_background();
  context.host_network().call_after(Seconds(), *this, 0);
  over_->acquire();
  context.host_network().end_background();
}

void TrainingJob::due(std::uint64_t /*what*/)
{
  if (job_.failed)
    return;
  HostNetwork& network = context_->host_network();
  try {
    iteration_ = std::make_unique<Iteration>(workload_, context_->fabric, options_,
                                             IterationPlace{numbers_of(hosts_, context_->fabric), network.agenda(),
                                                            network.messages_of(job_.world), [this] { end(); }, true});
    iteration_->begin();
  } catch (const UserError& error) {
    context_->stop_job(job_, {"refused", error.what()}, 1);
  }
}

/** Called within an event when the iteration is over. */
void TrainingJob::end()
{
  times_ = iteration_->take_times();
  if (job_.failed)
    return;
  if (times_->outcome == IterationTimes::COMPLETED)
    over_->release();
  else
    context_->stop_job(job_, {times_->outcome, times_->message}, 1);
}

void TrainingJob::stop(const Outcome& outcome)
{
  if (context_)
    context_->host_network().end_background();
  if (iteration_)
    iteration_->fail(outcome.kind, outcome.message);
}

std::string TrainingJob::waits() const
{
  return iteration_ ? iteration_->waits() : "the iteration has not begun";
}

void TrainingJob::add_to(Json& row) const
{
  if (times_)
    row["training"] = training_row(*times_, workload_, job_.start);
}

} // namespace weft
