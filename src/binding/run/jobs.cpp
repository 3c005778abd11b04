// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/run/jobs.hpp"

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

const Job& Jobs::add(Job job)
{
  return all_.emplace_back(std::move(job));
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

int Jobs::ranks() const
{
  int ranks = 0;
  for (const Job& job : all_)
    ranks += job.ranks;
  return ranks;
}

} // namespace weft
