// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/dynamic/leaders_meeting.hpp"

#include "binding/abi/smpi/communicators.hpp"
#include "binding/entries/frame/current_run.hpp"
#include "binding/entries/intercommunicators/making.hpp"
#include "binding/process/process.hpp"
#include "binding/ranks/current.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace weft {
namespace {

struct Wait {
  int rank;
  std::function<std::string()> text;
};

std::map<aid_t, Wait>& waits()
{
  static auto* const ALL = new std::map<aid_t, Wait>; // leaked, since ranks may end during static destruction
  return *ALL;
}

} // namespace

MeetingWaits::Scope::Scope(std::function<std::string()> text) : actor_(current_actor())
{
  waits().insert_or_assign(actor_, Wait{rank_here().value_or(0), std::move(text)});
  if (RunContext& run = current_run(); not run.describe_meetings)
    run.describe_meetings = describe;
}

MeetingWaits::Scope::~Scope()
{
  waits().erase(actor_);
}

std::string MeetingWaits::describe(const ConcernsRank& concerns)
{
  std::string all;
  for (const auto& [actor, wait] : waits())
    if (concerns(actor)) {
      const SpawnedWorld* const spawned = current_run().jobs.spawned_of(actor);
      all += " Rank " + std::to_string(wait.rank) + (spawned ? " of " + spawned->text() : "") + " " + wait.text() + ".";
    }
  return all;
}

LeadersPeer LeadersMeeting::meet(MPI_Comm comm, Kind kind, const std::function<std::string()>& wait)
{
  const bool accepts = kind == Kind::accepts;
  Side own{make_group(comm, {comm->rank()}), current_actor(), simgrid::s4u::Semaphore::create(0)};
  std::deque<Side*>& others = accepts ? connecting_ : accepting_;
  const Jobs& jobs          = current_run().jobs;
  std::erase_if(others, [&jobs](const Side* side) { // ranks of jobs that have failed never return
    const Job* const job = jobs.of(side->actor);
    return job && job->failed;
  });
  if (others.empty()) {
    const MeetingWaits::Scope waits(wait);
    (accepts ? accepting_ : connecting_).push_back(&own);
    own.met->acquire();
  } else {
    Side& other = *others.front();
    others.pop_front();
    const Side& first  = accepts ? own : other;
    const Side& second = accepts ? other : own;
    other.pair = own.pair = {union_of(first.leader.get(), second.leader.get()).release(), GroupLeft()};
    other.met->release();
  }
  constexpr int TAG = INTERCOMMUNICATOR_TAG - 1;
  return {communicator_of(own.pair.get()), accepts ? 1 : 0, TAG};
}

int connect_groups(MPI_Comm comm, int root, LeadersMeeting* meeting, LeadersMeeting::Kind kind,
                   const std::function<std::string()>& wait, MPI_Comm* made)
{
  LeadersPeer peer{MPI_COMM_NULL, 0, 0};
  if (comm->rank() == root)
    peer = meeting->meet(comm, kind, wait);
  const int result = create_of_groups(comm, root, peer, made);
  if (peer.comm != MPI_COMM_NULL)
    PMPI_Comm_free(&peer.comm);
  return result;
}

} // namespace weft
