// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/dynamic/spawned_worlds.hpp"

#include "base/error.hpp"
#include "binding/abi/kernel_scope.hpp"
#include "binding/abi/smpi/communicators.hpp"
#include "binding/abi/smpi/groups.hpp"
#include "binding/calls/call.hpp"
#include "binding/dynamic/leaders_meeting.hpp"
#include "binding/dynamic/spawn_hosts.hpp"
#include "binding/dynamic/spawn_programs.hpp"
#include "binding/dynamic/spawn_refusal.hpp"
#include "binding/dynamic/told.hpp"
#include "binding/entries/frame/current_run.hpp"
#include "binding/entries/frame/own_function.hpp"
#include "binding/jobs/predefined_handles.hpp"
#include "binding/launch/job_programs.hpp"
#include "binding/launch/rank_start.hpp"
#include "binding/process/process.hpp"
#include "binding/ranks/communicator_numbers.hpp"
#include "binding/ranks/current.hpp"
#include "binding/ranks/intercommunicators.hpp"
#include "binding/ranks/world_placeholder.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>
#include <string>
#include <utility>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

/** A spawned world, and the rendezvous of its first rank with the root of the call. */
struct Spawning {
  SpawnedWorld& world;
  std::vector<const JobLaunch*> launches; // by rank
  LeadersMeeting meeting    = {};
  std::set<int> initialized = {}; // ranks that have called MPI_Init
};

std::map<const SpawnedWorld*, Spawning>& spawnings()
{
  static auto* const ALL =
      new std::map<const SpawnedWorld*, Spawning>; // leaked, since ranks may end during destruction
  return *ALL;
}

/** Intercommunicator with the parents of a rank. */
struct Parent {
  MPI_Comm comm = MPI_COMM_NULL;
  int number    = 0;
};

std::map<aid_t, Parent>& parents()
{
  static auto* const ALL = new std::map<aid_t, Parent>; // leaked for the same reason
  return *ALL;
}

/** Result of a call, which the root shares with all other ranks. */
struct SpawnResult {
  std::vector<int> codes; // one per requested rank
  std::string refusal;    // empty if the world was spawned
  Spawning* spawning = nullptr;
};

/** Starts the ranks of a world. Runs in SimGrid's kernel. */
void start_world(Spawning& its)
{
  RunContext& run     = current_run();
  SpawnedWorld& world = its.world;
  if (world.job.failed)
    return;
  try {
    const SpawnedProgramScope loading;
    for (const JobLaunch* const launch : std::set(its.launches.begin(), its.launches.end()))
      if (not launch->copies)
        load_shared(*launch);
  } catch (const UserError& error) {
    run.abort("memory", error.what());
  }
  SMPI_app_instance_register(world.name.c_str(), nullptr, world.ranks());
  const MPI_Group group = latest_world()->group();
  world.start           = sg::Engine::get_clock();
  for (int rank = 0; rank < world.ranks(); ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    start_rank(*its.launches[at], {world.name, rank, run.host_supply->make(world.hosts[at])->get_name()},
               [&](aid_t actor) {
                 run.jobs.begin_rank(world, actor);
                 note_spawned_rank(actor);
                 group->set_mapping(actor, rank);
               });
  }
  run.check_hosts();
}

/** Returns the job of the current rank, which is known once the rank has been in a collective. */
Job& job_here()
{
  current_run().jobs.of_current_rank();
  return *current_run().jobs.of(current_actor());
}

/** Prepares a world and schedules its start. Throws SpawnRefusal. */
SpawnResult begin_world(const std::vector<SpawnCommand>& commands)
{
  RunContext& run  = current_run();
  Job& job         = job_here();
  const int number = static_cast<int>(run.jobs.spawned().size()) + 1;
  SpawnedWorld world{job, number, job.name + ".spawned-" + std::to_string(number), {}};
  SpawnHosts hosts(run, job);
  std::vector<const JobLaunch*> launches;
  SpawnResult result;
  for (const SpawnCommand& command : commands) {
    const JobLaunch& launch            = launch_of(command, job);
    const std::vector<VertexId> placed = hosts.take(command);
    world.parts.push_back({command.command, command.arguments, static_cast<int>(placed.size())});
    world.hosts.insert(world.hosts.end(), placed.begin(), placed.end());
    launches.insert(launches.end(), placed.size(), &launch);
    result.codes.insert(result.codes.end(), placed.size(), MPI_SUCCESS);
    result.codes.insert(result.codes.end(), static_cast<std::size_t>(command.most) - placed.size(), MPI_ERR_SPAWN);
  }
  world.spawned = sg::Engine::get_clock();
  share_communicator_numbers();
  SpawnedWorld& added = run.jobs.spawn(std::move(world));
  Spawning& its       = spawnings().try_emplace(&added, Spawning{added, std::move(launches)}).first->second;
  result.spawning     = &its;
  added.start         = added.spawned + run.fabric.mpi().value_or(MpiModel()).spawn_latency.value();
  const KernelScope kernel;
  simgrid::kernel::timer::Timer::set(added.start, [&its] { start_world(its); });
  return result;
}

SpawnResult try_to_spawn(const std::function<std::vector<SpawnCommand>()>& get_commands)
{
  std::size_t asked = 0;
  try {
    const std::vector<SpawnCommand> commands = get_commands();
    for (const SpawnCommand& command : commands)
      asked += static_cast<std::size_t>(command.most);
    return begin_world(commands);
  } catch (const SpawnRefusal& refusal) {
    return {std::vector<int>(asked, MPI_ERR_SPAWN), refusal.what()};
  }
}

/** Returns the ranks of a world that have not called MPI_Init, as text. */
std::string ranks_before_init(const Spawning& its)
{
  std::vector<std::string> ranks;
  constexpr std::size_t MOST = 8;
  for (int rank = 0; rank < its.world.ranks() && ranks.size() <= MOST; ++rank)
    if (not its.initialized.contains(rank))
      ranks.push_back(ranks.size() == MOST ? "…" : std::to_string(rank));
  return join(ranks);
}

std::string describe_wait(const Spawning& its)
{
  const std::string missing = ranks_before_init(its);
  return "waits in MPI_Comm_spawn for " + its.world.text() +
         (missing.empty() ? ", whose ranks are in MPI_Init" : ", whose ranks " + missing + " have not called MPI_Init");
}

/** Connects a spawned rank that has called MPI_Init with its parents. */
void meet_parents(Spawning& its)
{
  const InMpi inside;
  Parent parent;
  connect_groups(
      own_world(), 0, &its.meeting, LeadersMeeting::Kind::connects,
      [] { return std::string("waits in MPI_Init for the ranks that have spawned it"); }, &parent.comm);
  PMPI_Comm_set_name(parent.comm, "MPI_COMM_PARENT"); // MPI 4.1, section 7.8
  parent.number              = parent.comm->id();
  parents()[current_actor()] = parent;
}

void initializes(bool over)
{
  SpawnedWorld* const world = current_run().jobs.spawned_of(current_actor());
  if (not world)
    return;
  Spawning& its = spawnings().at(world);
  if (over)
    meet_parents(its);
  else
    its.initialized.insert(rank_here().value_or(0));
}

} // namespace

int spawn(const std::function<std::vector<SpawnCommand>()>& commands, int root, MPI_Comm comm, MPI_Comm* made,
          int* codes)
{
  const CollectiveScope inside;
  *made = MPI_COMM_NULL;
  const std::shared_ptr<const SpawnResult> result =
      told_by<SpawnResult>(comm, root, [&] { return try_to_spawn(commands); });
  if (codes)
    std::ranges::copy(result->codes, codes);
  if (not result->spawning)
    return wrong(MPI_ERR_SPAWN, result->refusal);
  Spawning& its = *result->spawning;
  return connect_groups(
      comm, root, &its.meeting, LeadersMeeting::Kind::accepts, [&its] { return describe_wait(its); }, made);
}

MPI_Comm parent_here()
{
  const auto found = parents().find(current_actor());
  if (found == parents().end())
    return MPI_COMM_NULL;
  const Parent& parent               = found->second;
  const Intercommunicator* const its = intercommunicator_of(parent.comm);
  const bool is_there                = its && its->owner == current_actor() && parent.comm->id() == parent.number;
  return is_there ? parent.comm : MPI_COMM_NULL;
}

void serve_spawning(RunContext& context)
{
  context.on_init  = initializes;
  context.universe = [&context] { return universe(context); };
}

} // namespace weft
