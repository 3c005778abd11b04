// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/jobs/jobs.hpp"

#include "binding/ranks/current.hpp"
#include "binding/ranks/places.hpp"
#include "binding/ranks/world_placeholder.hpp"

#include <algorithm>
#include <simgrid/s4u.hpp>
#include <utility>

namespace weft {

int SpawnedWorld::part_of(int rank) const
{
  int part = 0;
  for (int before = parts.front().ranks; rank >= before; before += parts[static_cast<std::size_t>(part)].ranks)
    ++part;
  return part;
}

std::string SpawnedWorld::text() const
{
  return "spawned world " + std::to_string(number) + " (" + parts.front().program + (parts.size() > 1 ? ", …" : "") +
         ")";
}

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

SpawnedWorld& Jobs::spawn(SpawnedWorld world)
{
  world.job.spawned_ranks += world.ranks();
  return spawned_.emplace_back(std::move(world));
}

void Jobs::begin_rank(SpawnedWorld& world, aid_t actor)
{
  of_actor_[actor]   = &world.job;
  spawned_of_[actor] = &world;
  world.actors.push_back(actor);
  if (world.job.own_launcher)
    world.job.actors.push_back(actor);
}

const Job& Jobs::of_current_rank()
{
  const simgrid::s4u::Actor& rank = *simgrid::s4u::Actor::self();
  Job*& job                       = of_actor_[rank.get_pid()];
  if (not job) {
    const char* name = rank.get_property("instance_id");
    job              = &named(name ? name : "");
    if (job->ranks == 0)
      job->ranks = place_in(own_world()).size;
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
    ranks += job.actors_at_start() + job.spawned_ranks;
  return ranks;
}

} // namespace weft
