// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/run/communicators.hpp"

#include "binding/abi/smpi/communicators.hpp"
#include "binding/abi/smpi/groups.hpp"
#include "binding/ranks/communicator_numbers.hpp"
#include "binding/ranks/world_placeholder.hpp"

#include <map>
#include <simgrid/s4u.hpp>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

/** Fills in the location of the ranks, and the member to which each belongs. */
void describe_members(Communicator& communicator, MPI_Comm comm, const Network& network, bool combine)
{
  std::map<VertexId, std::vector<int>> members_at;
  for (int rank = 0; rank < comm->size(); ++rank) {
    communicator.actors.push_back(comm->group()->actor(rank));
    // A rank that has ended joins no further calls, so its location does not matter.
    const sg::ActorPtr actor = sg::Actor::by_pid(communicator.actors.back());
    communicator.hosts.push_back(actor ? actor->get_host() : nullptr);
    const VertexId host = actor ? network.vertex_of(actor->get_host()) : 0;
    communicator.rank_hosts.push_back(host);
    std::vector<int>& members = members_at[host];
    if (members.empty() || not combine) {
      members.push_back(communicator.members());
      communicator.member_ranks.emplace_back();
    }
    communicator.member_of.push_back(members.back());
    communicator.member_ranks[static_cast<std::size_t>(members.back())].push_back(rank);
  }
}

} // namespace

Communicators::Communicators(const Fabric& fabric, const Network& network, Jobs& jobs)
    : network_(network), combine_(fabric.nic().host_combines()), jobs_(jobs), host_(fabric.host())
{
}

std::shared_ptr<Communicator> Communicators::describe(MPI_Comm comm, CommunicatorKey key)
{
  auto communicator = std::make_shared<Communicator>(key, described_++, comm->size());
  describe_members(*communicator, comm, network_, combine_);
  communicator->is_only_world = jobs_.are_own();
  if (host_.has_sockets())
    find_sockets(*communicator);
  return communicator;
}

/** Finds the sockets of a communicator's ranks. Ranks of the current rank's world are distributed over the sockets; the
 * sockets of ranks of other worlds, which are unknown, are left to the call. */
void Communicators::find_sockets(Communicator& communicator)
{
  const SpawnedWorld* const spawned = jobs_.spawned_of(sg::this_actor::get_pid());
  std::map<aid_t, int>& known       = sockets_[{jobs_.of_current_rank().world, spawned ? spawned->number : 0}];
  if (known.empty()) {
    std::map<const sg::Host*, int> placed;
    MPI_Comm world = own_world();
    for (int rank = 0; rank < world->size(); ++rank) {
      const aid_t number       = world->group()->actor(rank);
      const sg::ActorPtr actor = sg::Actor::by_pid(number);
      known.emplace(number, host_.socket(actor ? placed[actor->get_host()]++ : 0));
    }
  }
  for (const aid_t actor : communicator.actors) {
    const auto found = known.find(actor);
    communicator.rank_sockets.push_back(found == known.end() ? -1 : found->second);
  }
}

/** Returns the key of a communicator of the current rank. Spawned worlds have the numbers -2 and below. A communicator
 * of ranks of several jobs has the first rank's key. */
CommunicatorKey Communicators::key_of(MPI_Comm comm)
{
  const Job& own   = jobs_.of_current_rank();
  const int number = number_of(comm);
  if (is_shared_number(number)) {
    const Job* const first = jobs_.of(comm->group()->actor(0));
    return {first ? first->world : own.world, number};
  }
  const SpawnedWorld* const spawned = number < 0 ? jobs_.spawned_of(sg::this_actor::get_pid()) : nullptr;
  return {own.world, spawned ? number - spawned->number : number};
}

const std::shared_ptr<Communicator>& Communicators::find(MPI_Comm comm, int rank)
{
  const CommunicatorKey key            = key_of(comm);
  std::shared_ptr<Communicator>& entry = all_[key];
  if (not entry)
    entry = describe(comm, key);
  if (not entry->attached[static_cast<std::size_t>(rank)])
    attach(comm, rank, *entry);
  return entry;
}

void Communicators::attach(MPI_Comm comm, int rank, Communicator& communicator)
{
  // Called by MPI when a communicator with the attribute is freed.
  const auto on_free = [](MPI_Comm, int, void* freed, void* communicators) -> int {
    static_cast<Communicators*>(communicators)->release(*static_cast<Communicator*>(freed));
    return MPI_SUCCESS;
  };
  if (attribute_key_ == MPI_KEYVAL_INVALID)
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_free, &attribute_key_, this);
  communicator.attached[static_cast<std::size_t>(rank)] = true;
  if (communicator.is_world()) // one object for all ranks, which lives as long as they do
    return;
  PMPI_Comm_set_attr(comm, attribute_key_, &communicator);
}

void Communicators::release(Communicator& communicator)
{
  ++communicator.freed;
  release_if_done(communicator);
}

void Communicators::release_world(int world)
{
  for (const auto& [key, communicator] : all_)
    if (key.world == world)
      communicator->release();
}

void Communicators::release_if_done(Communicator& communicator)
{
  // A rank that has not used the communicator yet must still find the calls that other ranks have made.
  if (communicator.freed < communicator.size() || not communicator.pending().empty())
    return;
  communicator.release();
  all_.erase(communicator.key()); // last use: this may destroy the communicator
}

} // namespace weft
