// SPDX-License-Identifier: LGPL-2.1-only
/* Discovery of the ranks that share a host, in no simulated time.
 *
 * For hierarchical algorithms, which SMPI's selectors `mpich`, `mvapich2` and `impi` choose, SMPI discovers this before
 * the first message on a communicator: by an Allgather in as many steps as
 * there are ranks, then another, a Bcast and an Allreduce. MPI libraries know it from their
 * launcher (MPICH: MPIR_Comm_commit in its src/mpi/comm/commutil.c). Here ranks exchange it in
 * memory; they wait for each other as before. */
#include "binding/abi/original.hpp"
#include "binding/abi/smpi/collectives.hpp"
#include "binding/abi/smpi/communicators.hpp"
#include "binding/ranks/agreement.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <simgrid/s4u.hpp>
#include <utility>
#include <vector>

namespace weft {
namespace {

/** Returns the ranks, as actors, in a discovery. */
std::set<aid_t>& finding_out()
{
  static std::set<aid_t> actors;
  return actors;
}

bool is_finding_out()
{
  return not finding_out().empty() && finding_out().contains(simgrid::s4u::this_actor::get_pid());
}

/** Returns whether the current rank is about to start a discovery whose result it does not use. The discovery follows
 * immediately. */
bool& is_needless()
{
  static bool flag = false;
  return flag;
}

/** Returns the value of each member of @p comm. */
std::vector<int> hear_all(MPI_Comm comm, int value)
{
  static std::map<std::vector<aid_t>, AgreementSlots<Agreement<int>>> all; // by member list
  const std::vector<aid_t> members = members_of(comm);
  auto& meetings                   = all[members];
  const auto here = meetings.join(comm->rank(), comm->size(), [comm] { return Agreement<int>(comm->size()); });
  here->shared.say(comm->rank(), value);
  here->shared.wait();
  std::vector<int> said = here->shared.said;
  meetings.leave(here);
  if (meetings.empty())
    all.erase(members);
  return said;
}

} // namespace
} // namespace weft

namespace simgrid::smpi {
using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

WEFT_INTERPOSED void Comm::init_smp()
{
  static const auto THEIRS = original<void (*)(Comm*)>("_ZN7simgrid4smpi4Comm8init_smpEv");
  if (std::exchange(is_needless(), false))
    return;
  const aid_t actor = s4u::this_actor::get_pid();
  const bool first  = finding_out().insert(actor).second; // init_smp() calls itself for MPI_COMM_WORLD
  THEIRS(this);
  // Rank 0 alone sets is_blocked(), at the very end; a rank that read it earlier would select another algorithm than
  // rank 0.
  hear_all(this, 0);
  if (first)
    finding_out().erase(actor);
}

// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier): SMPI's names

/** SMPI's k-nomial Bcast, which its selector `ompi` chooses for 64 ranks or more, alone and within Allreduces. It makes
 * SMPI discover which ranks share a host, and does not use the result; Open
 * MPI's sends no such messages (ompi_coll_base_bcast_intra_knomial in its
 * ompi/mca/coll/base/coll_base_bcast.c). */
WEFT_INTERPOSED int bcast__mvapich2_knomial_intra_node(void* buffer, int count, MPI_Datatype type, int root,
                                                       MPI_Comm comm)
{
  static const auto THEIRS = original(&bcast__mvapich2_knomial_intra_node);
  is_needless()            = comm->get_leaders_comm() == MPI_COMM_NULL;
  return THEIRS(buffer, count, type, root, comm);
}

WEFT_INTERPOSED int allgather__ring(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                                    MPI_Datatype type, MPI_Comm comm)
{
  static const auto THEIRS = original(&allgather__ring);
  if (not is_finding_out())
    return THEIRS(send, send_count, send_type, receive, count, type, comm);
  std::ranges::copy(hear_all(comm, *static_cast<const int*>(send)), static_cast<int*>(receive));
  return MPI_SUCCESS;
}

WEFT_INTERPOSED int bcast__scatter_LR_allgather(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
  static const auto THEIRS = original(&bcast__scatter_LR_allgather);
  if (not is_finding_out())
    return THEIRS(buffer, count, type, root, comm);
  auto& value = *static_cast<int*>(buffer);
  value       = hear_all(comm, comm->rank() == root ? value : 0)[static_cast<std::size_t>(root)];
  return MPI_SUCCESS;
}

WEFT_INTERPOSED int allreduce__default(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                                       MPI_Comm comm)
{
  static const auto THEIRS = original(&allreduce__default);
  if (not is_finding_out())
    return THEIRS(send, receive, count, type, op, comm);
  const std::vector<int> said = hear_all(comm, *static_cast<const int*>(send));
  *static_cast<int*>(receive) = std::ranges::all_of(said, [](int value) { return value != 0; }) ? 1 : 0;
  return MPI_SUCCESS;
}

// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)

} // namespace simgrid::smpi
