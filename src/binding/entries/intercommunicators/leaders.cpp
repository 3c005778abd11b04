// SPDX-License-Identifier: LGPL-2.1-only
/* Charged like MPICH's MPI_Intercomm_create (MPIR_Intercomm_create_impl in its src/mpi/comm/comm_impl.c,
 * MPID_Intercomm_exchange_map in src/mpid/ch4): the leaders exchange sizes, ranks and context ids, and broadcast each
 * in their groups. */
#include "binding/entries/intercommunicators/leaders.hpp"

#include "binding/abi/smpi/collectives.hpp"
#include "binding/abi/smpi/communicators.hpp"
#include "binding/abi/smpi/error_handlers.hpp"
#include "binding/abi/smpi/groups.hpp"
#include "binding/abi/smpi/requests.hpp"
#include "binding/calls/call.hpp"
#include "binding/entries/frame/mpi_errors.hpp"
#include "binding/entries/intercommunicators/making.hpp"

#include <cstddef>
#include <memory>
#include <simgrid/s4u/Actor.hpp>
#include <stdexcept>
#include <vector>

namespace colls = simgrid::smpi::colls;

namespace weft {
namespace {

/** Data that one leader offers the other. */
struct LeadersOffer {
  OwnGroup group;
  aid_t leader;
  class GroupsMeeting* meeting = nullptr; ///< set in the first group's offer
};

/** Both groups of an MPI_Intercomm_create, shared by their ranks; the last one frees it. */
class GroupsMeeting {
  std::unique_ptr<LeadersOffer> first_;
  std::unique_ptr<LeadersOffer> second_;
  std::unique_ptr<NewIntercommunicator> made_; // null if the groups have common ranks
  int ranks_;

  GroupsMeeting(LeadersOffer* first, LeadersOffer* second)
      : first_(first), second_(second), ranks_(size_of(*first->group) + size_of(*second->group))
  {
    if (not overlap(first->group.get(), second->group.get()))
      made_ = std::make_unique<NewIntercommunicator>(copy_of(first->group.get()), copy_of(second->group.get()));
  }
  static int size_of(simgrid::smpi::Group& group)
  {
    int size = 0;
    PMPI_Group_size(&group, &size);
    return size;
  }

public:
  /** Returns the meeting of two leaders. */
  static GroupsMeeting* of(LeadersOffer* own, LeadersOffer* other)
  {
    LeadersOffer* const first = own->leader < other->leader ? own : other;
    if (not first->meeting)
      first->meeting = new GroupsMeeting(first, first == own ? other : own);
    return first->meeting;
  }
  int size_of_other(const LeadersOffer& own) const
  {
    return size_of(*(&own == first_.get() ? second_ : first_)->group);
  }

  /** Returns whether no rank is in both groups. */
  bool possible() const { return made_ != nullptr; }
  /** Creates the current rank's object; MPI_COMM_NULL if that is impossible. */
  MPI_Comm make(MPI_Comm local)
  {
    const bool first    = first_->group->rank(local->group()->actor(0)) != MPI_UNDEFINED;
    const MPI_Comm made = made_ ? made_->make(first) : MPI_COMM_NULL;
    if (--ranks_ == 0)
      delete this;
    return made;
  }
};

/** Messages between two leaders. */
class LeadersChannel {
  LeadersPeer peer_;

public:
  explicit LeadersChannel(const LeadersPeer& peer) : peer_(peer) {}
  void exchange(const void* sent, int bytes, void* received, int received_bytes) const
  {
    simgrid::smpi::Request::sendrecv(sent, bytes, MPI_BYTE, peer_.rank, peer_.tag, received, received_bytes, MPI_BYTE,
                                     peer_.rank, peer_.tag, peer_.comm, MPI_STATUS_IGNORE);
  }
  void charge(int bytes, int received_bytes) const
  {
    const std::vector<std::byte> sent(static_cast<std::size_t>(bytes));
    std::vector<std::byte> received(static_cast<std::size_t>(received_bytes));
    exchange(sent.data(), bytes, received.data(), received_bytes);
  }
};

GroupsMeeting* meet_leader(MPI_Comm local, const LeadersChannel& channel, int& others)
{
  constexpr int A_RANK     = sizeof(int);
  constexpr auto A_POINTER = sizeof(void*);
  local->group()->ref();
  auto* const own     = new LeadersOffer{OwnGroup(local->group()), simgrid::s4u::this_actor::get_pid()};
  LeadersOffer* other = nullptr;
  channel.exchange(static_cast<const void*>(&own), A_POINTER, static_cast<void*>(&other), A_POINTER);
  GroupsMeeting* const meeting = GroupsMeeting::of(own, other);
  others                       = meeting->size_of_other(*own);
  channel.charge(local->size() * A_RANK, others * A_RANK);
  return meeting;
}

void bcast_from_leader(void* buffer, int bytes, int leader, MPI_Comm local)
{
  if (local->size() > 1)
    colls::bcast(buffer, bytes, MPI_BYTE, leader, local);
}

} // namespace

void inherit_errhandler(MPI_Comm from, MPI_Comm to)
{
  const MPI_Errhandler handler = from->errhandler();
  PMPI_Comm_set_errhandler(to, handler);
  if (handler != MPI_ERRHANDLER_NULL)
    simgrid::smpi::Errhandler::unref(handler);
}

int create_of_groups(MPI_Comm local, int leader, const LeadersPeer& peer, MPI_Comm* made)
{
  constexpr int CONTEXT_ID = 2; // bytes
  struct Found {
    GroupsMeeting* meeting;
    int others;
  } found{nullptr, 0};
  const CollectiveScope inside;
  const LeadersChannel channel(peer);
  const bool leads = local->rank() == leader;
  if (leads)
    found.meeting = meet_leader(local, channel, found.others);
  bcast_from_leader(static_cast<void*>(&found), sizeof found, leader, local);
  if (not found.meeting)
    throw std::logic_error("the leader of a group has told it nothing");
  if (not found.meeting->possible()) {
    *made = found.meeting->make(local);
    return wrong(MPI_ERR_COMM, "the two groups have a rank in common");
  }
  std::vector<int> ranks(static_cast<std::size_t>(found.others));
  bcast_from_leader(ranks.data(), found.others * static_cast<int>(sizeof(int)), leader, local);
  charge_context_id(local);
  if (leads)
    channel.charge(CONTEXT_ID, CONTEXT_ID);
  int id = 0;
  bcast_from_leader(&id, sizeof id, leader, local);
  *made = found.meeting->make(local);
  inherit_errhandler(local, *made);
  return MPI_SUCCESS;
}

} // namespace weft
