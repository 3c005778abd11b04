// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/jobs/jobs.hpp"

#include "binding/ranks/current.hpp"
#include "binding/ranks/places.hpp"

#include <algorithm>
#include <simgrid/s4u.hpp>
#include <utility>

namespace weft {

Job& Jobs::named(const std::string& name)
{
  const auto found = std::ranges::find(all_, name, &Job::name);
  return found != all_.end() ? *found : all_.emplace_back(Job{name});
}

Job& Jobs::add(Job job)
{
  if (job.own_launcher)
    job.world = worlds_++;
  return all_.emplace_back(std::move(job));
}

void Jobs::begin_rank(Job& job, aid_t actor)
{
  of_actor_[actor] = &job;
  job.actors.push_back(actor);
  job.outcome.kind = Job::RUNNING;
}

const Job& Jobs::of_current_rank()
{
  const simgrid::s4u::Actor& rank = *simgrid::s4u::Actor::self();
  Job*& job                       = of_actor_[rank.get_pid()];
  if (not job) {
    const char* name = rank.get_property("instance_id");
    job              = &named(name ? name : "");
    if (job->ranks == 0)
      job->ranks = place_in(MPI_COMM_WORLD).size;
    if (job->world < 0)
      job->world = worlds_++;
  }
  return *job;
}

int Jobs::world_of_current_rank() const
{
  return world_of(current_actor());
}

Job* Jobs::launched(int world)
{
  const auto number = static_cast<std::size_t>(world);
  return are_own() && number < all_.size() ? &all_[number] : nullptr;
}

const Job* Jobs::launched(int world) const
{
  const auto number = static_cast<std::size_t>(world);
  return are_own() && number < all_.size() ? &all_[number] : nullptr;
}

bool Jobs::are_over() const
{
  return std::ranges::all_of(all_, &Job::over);
}

int Jobs::ranks() const
{
  int ranks = 0;
  for (const Job& job : all_)
    ranks += job.ranks;
  return ranks;
}

} // namespace weft
