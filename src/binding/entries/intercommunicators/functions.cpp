// SPDX-License-Identifier: LGPL-2.1-only
/* MPI's functions of intercommunicators, which SMPI lacks, and queries that it answers by the remote group.
 *
 * MPI_Intercomm_create is charged as MPICH's (MPIR_Intercomm_create_impl in its src/mpi/comm/comm_impl.c,
 * MPID_Intercomm_exchange_map in src/mpid/ch4): the leaders exchange sizes, ranks and context ids, each with a Bcast in
 * its group. */
#include "binding/abi/original.hpp"
#include "binding/calls/call.hpp"
#include "binding/entries/frame/own_function.hpp"
#include "binding/entries/intercommunicators/making.hpp"
#include "binding/ranks/places.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <simgrid/s4u/Actor.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace colls = simgrid::smpi::colls;

namespace weft {
namespace {

/** Offer of one leader to the other. */
struct LeadersOffer {
  OwnGroup group;
  aid_t leader;
  class GroupsMeeting* meeting = nullptr; ///< set in the first group's offer
};

/** Both groups of an MPI_Intercomm_create, shared by their ranks; the last one frees it. */
class GroupsMeeting {
  std::unique_ptr<LeadersOffer> first_;
  std::unique_ptr<LeadersOffer> second_;
  std::unique_ptr<NewIntercommunicator> made_; // null if the groups have ranks in common
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
  MPI_Comm comm_;
  int other_;
  int tag_;

public:
  LeadersChannel(MPI_Comm comm, int other, int tag) : comm_(comm), other_(other), tag_(tag) {}
  void exchange(const void* sent, int bytes, void* received, int received_bytes) const
  {
    simgrid::smpi::Request::sendrecv(sent, bytes, MPI_BYTE, other_, tag_, received, received_bytes, MPI_BYTE, other_,
                                     tag_, comm_, MPI_STATUS_IGNORE);
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

void inherit_errhandler(MPI_Comm from, MPI_Comm to)
{
  const MPI_Errhandler handler = from->errhandler();
  PMPI_Comm_set_errhandler(to, handler);
  if (handler != MPI_ERRHANDLER_NULL)
    simgrid::smpi::Errhandler::unref(handler);
}

/** @p channel is the leader's. */
int create_of_groups(MPI_Comm local, int leader, const LeadersChannel& channel, MPI_Comm* made)
{
  constexpr int CONTEXT_ID = 2; // bytes
  struct Found {
    GroupsMeeting* meeting;
    int others;
  } found{nullptr, 0};
  const CollectiveScope inside;
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

int check_rank_in(MPI_Comm comm, int rank, const char* name)
{
  return rank < 0 || rank >= place_in(comm).size ? wrong_rank(MPI_ERR_RANK, name, rank, comm)
                                                 : static_cast<int>(MPI_SUCCESS);
}

int check_intercommunicator(MPI_Comm comm)
{
  if (const int result = check_comm(comm); result != MPI_SUCCESS)
    return result;
  return intercommunicator_of(comm) ? static_cast<int>(MPI_SUCCESS)
                                    : wrong(MPI_ERR_COMM, "the communicator is an intracommunicator");
}

/** Checks what is significant at the leader only. */
int check_leaders_arguments(MPI_Comm peer, int remote_leader)
{
  return first_error([&] { return check_comm(peer); },
                     [&] { return check_rank_in(peer, remote_leader, "the remote leader"); },
                     [&] {
                       return group_of(peer)->actor(remote_leader) == simgrid::s4u::this_actor::get_pid()
                                  ? wrong(MPI_ERR_RANK, "the remote leader is the local leader")
                                  : static_cast<int>(MPI_SUCCESS);
                     });
}

int check_creation(MPI_Comm local, int local_leader, MPI_Comm peer, int remote_leader, int tag, const MPI_Comm* made)
{
  return first_error(
      [&] { return check_comm(local); }, [&] { return check_intracommunicator(local); },
      [&] { return check_rank_in(local, local_leader, "the local leader"); },
      [&] { return tag < 0 ? wrong_number(MPI_ERR_TAG, "the tag", tag, "from 0 on") : static_cast<int>(MPI_SUCCESS); },
      [&] { return check_present(made, "newintercomm"); },
      [&] {
        return place_in(local).rank == local_leader ? check_leaders_arguments(peer, remote_leader)
                                                    : static_cast<int>(MPI_SUCCESS);
      });
}

int leaders_tag(int tag)
{
  constexpr int TAGS = 1'000'000'000;
  return INTERCOMMUNICATOR_TAG - 1 - tag % TAGS;
}

int create_from_two_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group, int remote_leader,
                           const char* tag, MPI_Errhandler handler, MPI_Comm* made)
{
  constexpr std::size_t TAGS = 32767;
  const int number           = static_cast<int>(std::hash<std::string_view>()(tag) % TAGS);
  MPI_Comm local             = MPI_COMM_NULL;
  *made                      = MPI_COMM_NULL;
  if (const int result = PMPI_Comm_create_group(MPI_COMM_WORLD, local_group, number, &local);
      result != MPI_SUCCESS || local == MPI_COMM_NULL)
    return result;
  PMPI_Comm_set_errhandler(local, handler);
  const int leader      = remote_group->actor(remote_leader) < 0
                              ? MPI_UNDEFINED
                              : group_of(MPI_COMM_WORLD)->rank(remote_group->actor(remote_leader));
  const auto right_peer = [&] { return check_creation(local, local_leader, MPI_COMM_WORLD, leader, number, made); };
  int result            = right_peer();
  if (result == MPI_SUCCESS)
    result = create_of_groups(local, local_leader, {MPI_COMM_WORLD, leader, leaders_tag(number)}, made);
  PMPI_Comm_free(&local);
  return result;
}

MpiFunction makes_intercommunicators(const char* name)
{
  return {name, CallKind::communicators, false};
}

/** Returns the greater difference of two comparisons. */
int worse(int one, int other)
{
  const auto weight = [](int result) { return result == MPI_IDENT ? 0 : result == MPI_SIMILAR ? 1 : 2; };
  return weight(one) > weight(other) ? one : other;
}

int compare_intercommunicators(MPI_Comm one, const Intercommunicator& its, MPI_Comm other,
                               const Intercommunicator& others)
{
  int local  = MPI_UNEQUAL;
  int remote = MPI_UNEQUAL;
  PMPI_Group_compare(its.local->group(), others.local->group(), &local);
  PMPI_Group_compare(one->group(), other->group(), &remote);
  const int result = worse(local, remote);
  return result == MPI_IDENT ? MPI_CONGRUENT : result;
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader,
                                          int tag, MPI_Comm* made)
{
  static MpiFunction function = makes_intercommunicators("MPI_Intercomm_create");
  return own_function<trace::calls::Intercomm_create>(
      function, [&] { return check_creation(local_comm, local_leader, peer_comm, remote_leader, tag, made); },
      [&] { return create_of_groups(local_comm, local_leader, {peer_comm, remote_leader, leaders_tag(tag)}, made); },
      local_comm, local_leader, peer_comm, remote_leader, tag, made);
}

WEFT_INTERPOSED int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group,
                                                      int remote_leader, const char* stringtag, MPI_Info info,
                                                      MPI_Errhandler errhandler, MPI_Comm* made)
{
  static MpiFunction function = makes_intercommunicators("MPI_Intercomm_create_from_groups");
  return own_function<trace::calls::Intercomm_create_from_groups>(
      function,
      [&] {
        return first_error(
            [] { return is_in_mpi() ? static_cast<int>(MPI_SUCCESS) : wrong(MPI_ERR_OTHER, "there is no session"); },
            [&] { return check_present(stringtag, "stringtag"); }, [&] { return check_present(made, "newintercomm"); },
            [&] {
              return local_group == MPI_GROUP_NULL || remote_group == MPI_GROUP_NULL
                         ? wrong(MPI_ERR_GROUP, "a group is MPI_GROUP_NULL")
                         : static_cast<int>(MPI_SUCCESS);
            });
      },
      [&] {
        return create_from_two_groups(local_group, local_leader, remote_group, remote_leader, stringtag, errhandler,
                                      made);
      },
      local_group, local_leader, remote_group, remote_leader, stringtag, info, errhandler, made);
}

WEFT_INTERPOSED int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* made)
{
  static MpiFunction function = makes_intercommunicators("MPI_Intercomm_merge");
  return own_function<trace::calls::Intercomm_merge>(
      function,
      [&] {
        return first_error([&] { return check_intercommunicator(intercomm); },
                           [&] { return check_present(made, "newintracomm"); });
      },
      [&] {
        const CollectiveScope inside;
        *made = merge_intercommunicator(intercomm, *intercommunicator_of(intercomm), high != 0);
        inherit_errhandler(intercomm, *made);
        charge_context_id(*made);
        return static_cast<int>(MPI_SUCCESS);
      },
      intercomm, high, made);
}

WEFT_INTERPOSED int PMPI_Comm_remote_size(MPI_Comm comm, int* size)
{
  return first_error([&] { return check_intercommunicator(comm); }, [&] { return check_present(size, "size"); },
                     [&] {
                       *size = comm->size();
                       return MPI_SUCCESS;
                     });
}

WEFT_INTERPOSED int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group* group)
{
  return first_error([&] { return check_intercommunicator(comm); }, [&] { return check_present(group, "group"); },
                     [&] {
                       *group = comm->group();
                       (*group)->ref();
                       return MPI_SUCCESS;
                     });
}

WEFT_MPI_FUNCTION(Intercomm_create, local_comm,
                  (MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
                   MPI_Comm* made),
                  local_comm, local_leader, peer_comm, remote_leader, tag, made)
WEFT_MPI_FUNCTION(Intercomm_merge, intercomm, (MPI_Comm intercomm, int high, MPI_Comm* made), intercomm, high, made)
WEFT_MPI_FUNCTION(Comm_remote_size, comm, (MPI_Comm comm, int* size), comm, size)
WEFT_MPI_FUNCTION(Comm_remote_group, comm, (MPI_Comm comm, MPI_Group* group), comm, group)

WEFT_INTERPOSED int MPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group,
                                                     int remote_leader, const char* stringtag, MPI_Info info,
                                                     MPI_Errhandler errhandler, MPI_Comm* made)
{
  return handled_by(errhandler, MPI_COMM_NULL, "MPI_Intercomm_create_from_groups",
                    PMPI_Intercomm_create_from_groups(local_group, local_leader, remote_group, remote_leader, stringtag,
                                                      info, errhandler, made));
}

// ---- Queries that SMPI answers for other communicators --------------------------------------------------------------

WEFT_INTERPOSED int PMPI_Comm_rank(MPI_Comm comm, int* rank)
{
  static const auto THEIRS           = original<decltype(&PMPI_Comm_rank)>(__func__);
  const Intercommunicator* const its = intercommunicator_of(comm);
  return THEIRS(its ? its->local : comm, rank);
}

WEFT_INTERPOSED int PMPI_Comm_size(MPI_Comm comm, int* size)
{
  static const auto THEIRS           = original<decltype(&PMPI_Comm_size)>(__func__);
  const Intercommunicator* const its = intercommunicator_of(comm);
  return THEIRS(its ? its->local : comm, size);
}

WEFT_INTERPOSED int PMPI_Comm_group(MPI_Comm comm, MPI_Group* group)
{
  static const auto THEIRS           = original<decltype(&PMPI_Comm_group)>(__func__);
  const Intercommunicator* const its = intercommunicator_of(comm);
  return THEIRS(its ? its->local : comm, group);
}

WEFT_INTERPOSED int PMPI_Comm_test_inter(MPI_Comm comm, int* flag)
{
  static const auto THEIRS = original<decltype(&PMPI_Comm_test_inter)>(__func__);
  const int result         = THEIRS(comm, flag);
  if (result == MPI_SUCCESS)
    *flag = intercommunicator_of(comm) ? 1 : 0;
  return result;
}

WEFT_INTERPOSED int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int* result)
{
  static const auto THEIRS              = original<decltype(&PMPI_Comm_compare)>(__func__);
  const Intercommunicator* const first  = intercommunicator_of(comm1);
  const Intercommunicator* const second = intercommunicator_of(comm2);
  const int code                        = THEIRS(comm1, comm2, result);
  if (code != MPI_SUCCESS || (not first && not second) || comm1 == comm2)
    return code;
  *result = first && second ? compare_intercommunicators(comm1, *first, comm2, *second) : MPI_UNEQUAL;
  return code;
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
