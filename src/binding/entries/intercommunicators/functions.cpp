// SPDX-License-Identifier: LGPL-2.1-only
/* MPI's functions on intercommunicators, which SMPI lacks, and queries that refer to the remote group. */
#include "binding/abi/original.hpp"
#include "binding/abi/smpi/communicators.hpp"
#include "binding/abi/smpi/groups.hpp"
#include "binding/calls/call.hpp"
#include "binding/entries/frame/own_function.hpp"
#include "binding/entries/intercommunicators/leaders.hpp"
#include "binding/entries/intercommunicators/making.hpp"
#include "binding/ranks/places.hpp"
#include "binding/ranks/world_placeholder.hpp"

#include <functional>
#include <simgrid/s4u/Actor.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace weft {
namespace {

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

/** Checks the arguments that are significant at the leader only. */
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
  if (const int result = PMPI_Comm_create_group(own_world(), local_group, number, &local);
      result != MPI_SUCCESS || local == MPI_COMM_NULL)
    return result;
  PMPI_Comm_set_errhandler(local, handler);
  const int leader      = remote_group->actor(remote_leader) < 0
                              ? MPI_UNDEFINED
                              : group_of(own_world())->rank(remote_group->actor(remote_leader));
  const auto right_peer = [&] { return check_creation(local, local_leader, own_world(), leader, number, made); };
  int result            = right_peer();
  if (result == MPI_SUCCESS)
    result = create_of_groups(local, local_leader, {own_world(), leader, leaders_tag(number)}, made);
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

WEFT_INTERPOSED int MPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group,
                                                     int remote_leader, const char* stringtag, MPI_Info info,
                                                     MPI_Errhandler errhandler, MPI_Comm* made)
{
  return handled_by(errhandler, MPI_COMM_NULL, "MPI_Intercomm_create_from_groups",
                    PMPI_Intercomm_create_from_groups(local_group, local_leader, remote_group, remote_leader, stringtag,
                                                      info, errhandler, made));
}

// ---- Queries that SMPI answers for intracommunicators only
// --------------------------------------------------------------

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
