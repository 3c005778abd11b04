// SPDX-License-Identifier: LGPL-2.1-only
/* Creation of communicators, at the cost that it has in MPI libraries.
 *
 * SMPI agrees on a communicator's number by a Bcast over the new communicator, and finds the groups
 * of MPI_Comm_split by a linear Gather and a message to each rank, regardless of the algorithms of the run's
 * collectives. Here ranks agree in memory, in no simulated time, and are charged for the messages that libraries send:
 * - An Allreduce over the communicator that the call is made on, for the context id: MPICH's of 65
 *   integers (MPIR_Get_contextid_sparse_group in its src/mpi/comm/contextid.c). Open MPI's, of one
 *   integer, is one of three (ompi_comm_nextcid and ompi_comm_activate in its
 *   ompi/communicator/comm_cid.c).
 * - Before that, if the call divides ranks (MPI_Comm_split, MPI_Comm_split_type, MPI_Cart_sub), an
 *   Allgather of colour and key (ompi_comm_split in Open MPI's ompi/communicator/comm.c,
 *   MPIR_Comm_split_impl in MPICH's src/mpi/comm/comm_split.c).
 *
 * Both use the algorithm of the run's hosts; switches never execute them.
 *
 * SMPI gives each rank's communicator its own group, a table with 12 bytes per member: 12 P² bytes in total. Here all
 * ranks share one reference-counted group for a copy of a communicator, a Cartesian communicator of the same members
 * and each part of a split; a communicator made from a group of the program (MPI_Comm_create) keeps that group. */
#include "binding/entries/communicator_making.hpp"

#include "binding/abi/original.hpp"
#include "binding/abi/smpi/communicators.hpp"
#include "binding/abi/smpi/groups.hpp"
#include "binding/data/virtual_topology.hpp"
#include "binding/entries/collectives.hpp"
#include "binding/entries/frame/current_run.hpp"
#include "binding/entries/frame/hints.hpp"
#include "binding/entries/frame/own_function.hpp"
#include "binding/entries/intercommunicators/making.hpp"
#include "binding/entries/windows/attributes.hpp"
#include "binding/jobs/predefined_handles.hpp"
#include "binding/ranks/agreement.hpp"
#include "binding/ranks/communicator_numbers.hpp"
#include "binding/ranks/intercommunicators.hpp"
#include "binding/ranks/world_placeholder.hpp"
#include "binding/settings/tunings.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <simgrid/s4u.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>
#include <xbt/sysdep.h>

namespace sg = simgrid::s4u;

namespace weft {

/** Integers that libraries reduce to find a context id that is free at all ranks. */
static constexpr std::size_t CONTEXT_MASK = 65;

/** Charges the agreement of the ranks of @p comm on a context id. All ranks share the buffers, since the data is
 * irrelevant. */
void reduce_context_mask(MPI_Comm comm)
{
  if (const Intercommunicator* const its = intercommunicator_of(comm)) [[unlikely]]
    return charge_context_id(comm, *its);
  static std::array<int, CONTEXT_MASK> sent{};
  static std::array<int, CONTEXT_MASK> received{};
  if (comm->size() > 1)
    hosts_allreduce(sent.data(), received.data(), CONTEXT_MASK, MPI_INT, MPI_BAND, comm);
}

namespace {

/** Colours and keys of one MPI_Comm_split, and the resulting groups. */
class Split : public Agreement<std::pair<int, int>> { // colour and key
  std::map<int, OwnGroup> groups_;

public:
  using Agreement::Agreement;

  /** Returns the group of the ranks of @p comm with a colour, ordered by key; called after all have
   * contributed. */
  MPI_Group group(MPI_Comm comm, int colour)
  {
    if (groups_.empty())
      make_groups(comm);
    return groups_.at(colour).get();
  }

private:
  void make_groups(MPI_Comm comm)
  {
    std::map<int, std::vector<int>> ranks_of;
    for (int rank = 0; std::cmp_less(rank, said.size()); ++rank)
      ranks_of[said[static_cast<std::size_t>(rank)].first].push_back(rank);
    for (auto& [colour, ranks] : ranks_of) {
      std::ranges::stable_sort(ranks, {}, [this](int rank) { return said[static_cast<std::size_t>(rank)].second; });
      if (colour != MPI_UNDEFINED)
        groups_[colour] = make_group(comm, ranks);
    }
  }
};

/** Splits by the first member and the communicator's number, because the MPI_COMM_WORLD of every
 * program has the same number. */
std::map<std::pair<aid_t, int>, AgreementSlots<Split>>& splits()
{
  static std::map<std::pair<aid_t, int>, AgreementSlots<Split>> all;
  return all;
}

/** Charges the exchange of colours and keys between the ranks of @p comm. The data is irrelevant, so communicators of
 * one size share the buffers, which must not move while messages of any of them are in flight. */
void gather_colours(MPI_Comm comm)
{
  static std::array<int, 2> sent{};
  static std::map<int, std::vector<int>> buffers;
  std::vector<int>& received = buffers[comm->size()];
  received.resize(sent.size() * static_cast<std::size_t>(comm->size()));
  hosts_allgather(sent.data(), 2, MPI_INT, received.data(), 2, MPI_INT, comm);
}

/** Returns a communicator of the members of @p part, which all share this group object. */
MPI_Comm make_part(MPI_Comm comm, MPI_Group part)
{
  const CommonCreationScope common(part);
  MPI_Comm made = MPI_COMM_NULL;
  PMPI_Comm_create(comm, part, &made);
  return made;
}

MPI_Comm split_in_memory(MPI_Comm comm, int colour, int key)
{
  const int rank = comm->rank();
  const int size = comm->size();
  if (size == 1)
    return colour == MPI_UNDEFINED ? MPI_COMM_NULL : make_part(comm, make_group(comm, {0}).get());
  const std::pair id(comm->group()->actor(0), number_of(comm));
  auto& meetings  = splits()[id];
  const auto here = meetings.join(rank, size, [size] { return Split(size); });
  here->shared.say(rank, {colour, key});
  gather_colours(comm);
  here->shared.wait(); // returns immediately, unless the Allgather's algorithm is not a real Allgather
  MPI_Comm made = MPI_COMM_NULL;
  if (colour != MPI_UNDEFINED)
    made = make_part(comm, here->shared.group(comm, colour));
  meetings.leave(here);
  if (meetings.empty())
    splits().erase(id);
  return made;
}

/** Copies @p comm immediately; the agreement on a context id is a non-blocking Allreduce, whose request becomes the
 * call's. */
template <class Name, class Copy>
int copy_in_background(MpiFunction& function, MPI_Comm comm, Copy&& copy, MPI_Comm* made, MPI_Request* request)
{
  return own_function<Name>(
      function,
      [&] {
        return first_error([&] { return check_comm(comm); }, [&] { return check_present(made, "newcomm"); },
                           [&] { return check_present(request, "request"); });
      },
      [&] {
        static std::array<int, CONTEXT_MASK> sent{};
        static std::array<int, CONTEXT_MASK> received{};
        const CollectiveScope inside;
        if (const int result = copy(); result != MPI_SUCCESS)
          return result;
        const Intercommunicator* const its = intercommunicator_of(comm);
        return PMPI_Iallreduce(sent.data(), received.data(), CONTEXT_MASK, MPI_INT, MPI_BAND, its ? its->both : comm,
                               request);
      },
      comm, made, request);
}

/** Empty copy of a common group, which the group itself will replace. */
const void*& empty_copy()
{
  static const void* copy = nullptr;
  return copy;
}

/** Types of MPI_Comm_split_type (MPI 4.1, section 7.4.2) that SMPI's mpi.h lacks, as in weft_mpi.h. */
enum SplitType { hw_guided = 11, hw_unguided = 12, resource_guided = 13 };

/** Returns the value of a key; nothing if there is none. */
std::optional<std::string> value_of(MPI_Info info, const char* key)
{
  std::array<char, MPI_MAX_INFO_VAL + 1> value{};
  int found = 0;
  if (info != MPI_INFO_NULL)
    PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value.data(), &found);
  return found != 0 ? std::optional<std::string>(value.data()) : std::nullopt;
}

/** Splits by host. The only resource that MPI_Get_hw_resource_info names is a node, that is, a host. */
int split_by_host(MPI_Comm comm, int key, MPI_Comm* made)
{
  const VertexId host = current_run().network.vertex_of(sg::this_actor::get_host());
  return PMPI_Comm_split(comm, static_cast<int>(host), key, made);
}

/** Returns a colour that is unique among all ranks of @p comm, in both groups of an intercommunicator. */
int colour_of_own(MPI_Comm comm)
{
  const Intercommunicator* const its = intercommunicator_of(comm);
  return its ? its->both->rank() : comm->rank();
}

/** Returns whether @p part has as many ranks as @p whole, in both groups of intercommunicators. */
bool has_all_ranks(MPI_Comm part, MPI_Comm whole)
{
  if (part == MPI_COMM_NULL || part->size() != whole->size())
    return false;
  const Intercommunicator* const parts  = intercommunicator_of(part);
  const Intercommunicator* const wholes = intercommunicator_of(whole);
  return not parts || parts->local->size() == wholes->local->size();
}

/** Splits by the resource that @p info names: each host, or each process set. All ranks get MPI_COMM_NULL if there is
 * no such resource. */
int split_by_resource(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made)
{
  const std::optional<std::string> resource = value_of(info, "mpi_hw_resource_type");
  const std::optional<std::string> set =
      type == resource_guided ? value_of(info, "mpi_pset_name") : std::optional<std::string>();
  if (resource == "mpi://node" || (resource == "mpi_shared_memory" && type == hw_guided))
    return split_by_host(comm, key, made);
  if (not resource && set == "mpi://SELF")
    return PMPI_Comm_split(comm, colour_of_own(comm), key, made);
  return PMPI_Comm_split(comm, not resource && set == "mpi://WORLD" ? 0 : MPI_UNDEFINED, key, made);
}

/** Splits by host; all ranks get MPI_COMM_NULL if they are on one host, because there is no smaller resource. Otherwise
 * @p info gets the resource's name. */
int split_into_less(MPI_Comm comm, int key, MPI_Info info, MPI_Comm* made)
{
  const int result = split_by_host(comm, key, made);
  if (result != MPI_SUCCESS)
    return result;
  if (has_all_ranks(*made, comm))
    return PMPI_Comm_free(made);
  return info == MPI_INFO_NULL || *made == MPI_COMM_NULL ? result
                                                         : PMPI_Info_set(info, "mpi_hw_resource_type", "mpi://node");
}

/** Checks that a grid has no more positions than the communicator has ranks; SMPI checks all other arguments. */
int check_grid_fits(MPI_Comm comm, int dimensions, const int* sizes)
{
  if (comm == MPI_COMM_NULL || dimensions < 1 || not sizes)
    return MPI_SUCCESS;
  const std::span all(sizes, static_cast<std::size_t>(dimensions));
  if (std::ranges::any_of(all, [](int size) { return size < 1; }))
    return MPI_SUCCESS;
  std::int64_t places = 1;
  for (const int size : all)
    places = std::min(places * size, std::int64_t{comm->size()} + 1);
  return places <= comm->size() ? static_cast<int>(MPI_SUCCESS)
                                : wrong(MPI_ERR_DIMS, "the grid has more places than the communicator has ranks");
}

/** Returns whether @p common can be the group of a communicator for which SMPI has created @p group. */
bool can_replace(MPI_Group common, MPI_Group group)
{
  if (common == MPI_GROUP_NULL || group == common || std::exchange(empty_copy(), nullptr) == group)
    return common != MPI_GROUP_NULL;
  int size        = 0;
  int common_size = 0;
  PMPI_Group_size(group, &size);
  PMPI_Group_size(common, &common_size);
  return size == common_size; // a Cartesian communicator may have fewer members
}

std::shared_ptr<const VirtualTopology> grid(int dimensions, const int* sizes, const int* periods)
{
  std::vector<bool> periodic(static_cast<std::size_t>(dimensions));
  std::transform(periods, periods + dimensions, periodic.begin(), [](int period) { return period != 0; });
  return cartesian_topology(std::vector<int>(sizes, sizes + dimensions), std::move(periodic));
}

/** Returns the Cartesian topology of those dimensions of @p whole that @p remain. */
std::shared_ptr<const VirtualTopology> part_of_grid(const VirtualTopology& whole, const int* remain)
{
  std::vector<int> sizes;
  std::vector<bool> periodic;
  for (std::size_t dimension = 0; dimension < whole.sizes.size(); ++dimension)
    if (remain[dimension] != 0) {
      sizes.push_back(whole.sizes[dimension]);
      periodic.push_back(whole.periodic[dimension]);
    }
  return cartesian_topology(std::move(sizes), std::move(periodic));
}

/** Returns the number of the part to which @p rank belongs. If no dimension remains, MPICH and SMPI create one
 * communicator, with rank 0. */
int part_number(const VirtualTopology& whole, const int* remain, int rank)
{
  if (std::all_of(remain, remain + whole.sizes.size(), [](int kept) { return kept == 0; }))
    return rank == 0 ? 0 : MPI_UNDEFINED;
  int number                       = 0;
  const std::vector<int> positions = coordinates(whole, rank);
  for (std::size_t dimension = 0; dimension < positions.size(); ++dimension)
    if (remain[dimension] == 0)
      number = number * whole.sizes[dimension] + positions[dimension];
  return number;
}

/** Calls @p create unless @p comm is an intercommunicator, on which MPI defines no windows. */
template <class Create> int on_intracommunicator(MPI_Comm comm, Create&& create)
{
  const int result = check_intracommunicator(comm);
  return result == MPI_SUCCESS ? create() : result;
}

MpiFunction makes_windows(const char* name)
{
  return {name, CallKind::one_sided, false};
}

int free_attribute(MPI_Win /*window*/, int /*key*/, void* memory, void* /*state*/)
{
  xbt_free(memory);
  return MPI_SUCCESS;
}

/** Returns the key of the window attribute that holds memory, which is freed with the window. */
int memory_key()
{
  static const int KEY = [] {
    int key = MPI_KEYVAL_INVALID;
    PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, free_attribute, &key, nullptr);
    return key;
  }();
  return KEY;
}

/** Creates a window of memory that the ranks of @p comm share. Each rank's part follows the previous rank's, as MPI
 * requires unless alloc_shared_noncontig is set (MPI 4.1, 12.2.3). SMPI's own function uses the first rank's size for
 * all, and the first rank's part as the target of each. */
int allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* made)
{
  std::vector<MPI_Aint> sizes(static_cast<std::size_t>(comm->size()));
  PMPI_Allgather(&size, sizeof size, MPI_BYTE, sizes.data(), sizeof size, MPI_BYTE, comm);
  const auto rank  = comm->rank();
  const auto own   = sizes.begin() + rank;
  const auto total = std::accumulate(sizes.begin(), sizes.end(), MPI_Aint{0});
  void* memory     = nullptr;
  if (rank == 0)
    PMPI_Alloc_mem(std::max(total, MPI_Aint{1}), info, static_cast<void*>(&memory));
  PMPI_Bcast(static_cast<void*>(&memory), sizeof memory, MPI_BYTE, 0, comm);
  void* const part           = static_cast<std::byte*>(memory) + std::accumulate(sizes.begin(), own, MPI_Aint{0});
  *static_cast<void**>(base) = part;
  const int result           = PMPI_Win_create(part, size, unit, info, comm, made);
  if (result == MPI_SUCCESS && rank == 0)
    PMPI_Win_set_attr(*made, memory_key(), memory);
  return result;
}

/** Creates a window of memory with the alignment requested by @p info, which SMPI's own function ignores. */
int allocate_aligned(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* made)
{
  void* memory = nullptr;
  if (const int result = PMPI_Alloc_mem(size, info, static_cast<void*>(&memory)); result != MPI_SUCCESS)
    return result;
  *static_cast<void**>(base) = memory;
  const int result           = PMPI_Win_create(memory, size, unit, info, comm, made);
  if (result == MPI_SUCCESS)
    PMPI_Win_set_attr(*made, memory_key(), memory);
  return result;
}

} // namespace

} // namespace weft

namespace simgrid::smpi {

// SMPI's own function passes the parent's topology to the parts; in MPI they have none.
WEFT_INTERPOSED MPI_Comm Comm::split(int color, int key)
{
  if (const weft::Intercommunicator* const its = weft::intercommunicator_of(this)) [[unlikely]]
    return weft::split_intercommunicator(this, *its, color, key);
  return weft::split_in_memory(this, color, key);
}

WEFT_INTERPOSED int Comm::dup(MPI_Comm* made)
{
  static const auto THEIRS = weft::original<int (*)(Comm*, MPI_Comm*)>("_ZN7simgrid4smpi4Comm3dupEPPS1_");
  if (const weft::Intercommunicator* const its = weft::intercommunicator_of(this)) [[unlikely]]
    return weft::copy_intercommunicator(this, *its, [&] { return THEIRS(this, made); }, made);
  const weft::CopyScope copy(this);
  const weft::CommonCreationScope common(weft::common_group(this));
  const int result = THEIRS(weft::real_communicator(this), made);
  if (result == MPI_SUCCESS)
    weft::inherit_error_handler(this, *made);
  return result;
}

} // namespace simgrid::smpi

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// Constructors from src/smpi/mpi/smpi_comm.cpp and smpi_group.cpp. A topology is a shared_ptr, which is passed by
// address.

constexpr const char* MAKE_COMM  = "_ZN7simgrid4smpi4CommC1EPNS0_5GroupESt10shared_ptrINS0_4TopoEEbi";
constexpr const char* COPY_GROUP = "_ZN7simgrid4smpi5GroupC1EPKS1_";

void make_comm(void* self, MPI_Group group, void* topology, bool smp, int id)
    WEFT_REPLACES("_ZN7simgrid4smpi4CommC1EPNS0_5GroupESt10shared_ptrINS0_4TopoEEbi");
void copy_group(void* self, MPI_Group origin) WEFT_REPLACES("_ZN7simgrid4smpi5GroupC1EPKS1_");

void make_comm(void* self, MPI_Group group, void* topology, bool smp, int id)
{
  static const auto THEIRS = original<decltype(&make_comm)>(MAKE_COMM);
  constexpr int WORLD      = -1;
  if (id == WORLD && not smp)
    remember_world(static_cast<MPI_Comm>(self));
  if (const auto [remote, number] = IntercommunicatorScope::take(); remote != MPI_GROUP_NULL) {
    simgrid::smpi::Group::unref(group);
    remote->ref();
    return THEIRS(self, remote, topology, smp, number);
  }
  const MPI_Group offered = CommonCreationScope::take();
  const int original_comm = CopyScope::take();
  const bool shares       = is_on(TuningId::shared_groups) && can_replace(offered, group);
  const MPI_Group common  = shares ? offered : MPI_GROUP_NULL;
  if (common != MPI_GROUP_NULL && common != group) {
    simgrid::smpi::Group::unref(group);
    common->ref();
  }
  const CommonAgreementScope agreeing(common, original_comm);
  THEIRS(self, common != MPI_GROUP_NULL ? common : group, topology, smp, id);
}

void copy_group(void* self, MPI_Group origin)
{
  static const auto THEIRS = original<decltype(&copy_group)>(COPY_GROUP);
  const bool is_common =
      is_on(TuningId::shared_groups) && origin != MPI_GROUP_NULL && origin == CommonCreationScope::group();
  empty_copy() = is_common ? self : nullptr;
  THEIRS(self, is_common ? MPI_GROUP_NULL : origin);
}

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* made)
{
  static const auto THEIRS = original<decltype(&PMPI_Comm_dup)>(__func__);
  static auto function     = makes_communicators("MPI_Comm_dup");
  return make<trace::calls::Comm_dup>(function, comm, [&] { return THEIRS(comm, made); }, comm, made);
}

WEFT_INTERPOSED int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made)
{
  static const auto THEIRS = original<decltype(&PMPI_Comm_dup_with_info)>(__func__);
  static auto function     = makes_communicators("MPI_Comm_dup_with_info");
  return make<trace::calls::Comm_dup_with_info>(
      function, comm,
      [&] {
        const int result = THEIRS(comm, MPI_INFO_NULL, made);
        return result == MPI_SUCCESS && info != MPI_INFO_NULL ? PMPI_Comm_set_info(*made, info) : result;
      },
      comm, info, made);
}

WEFT_INTERPOSED int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request)
{
  static auto function = makes_communicators("MPI_Comm_idup");
  return copy_in_background<trace::calls::Comm_idup>(
      function, comm, [&] { return PMPI_Comm_dup(comm, made); }, made, request);
}

WEFT_INTERPOSED int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* made, MPI_Request* request)
{
  static auto function = makes_communicators("MPI_Comm_idup_with_info");
  return copy_in_background<trace::calls::Comm_idup_with_info>(
      function, comm, [&] { return PMPI_Comm_dup_with_info(comm, info, made); }, made, request);
}

WEFT_INTERPOSED int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made)
{
  static const auto THEIRS = original<decltype(&PMPI_Comm_create)>(__func__);
  static auto function     = makes_communicators("MPI_Comm_create");
  return make<trace::calls::Comm_create>(
      function, comm,
      [&] {
        const Intercommunicator* const its = intercommunicator_of(comm);
        if (not its || group == MPI_GROUP_NULL || not made) [[likely]]
          return THEIRS(comm, group, made);
        *made = create_intercommunicator(comm, *its, group);
        return static_cast<int>(MPI_SUCCESS);
      },
      comm, group, made);
}

/** Collective over the new communicator's members only. */
WEFT_INTERPOSED int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made)
{
  static const auto THEIRS = original<decltype(&PMPI_Comm_create_group)>(__func__);
  static auto function     = makes_communicators("MPI_Comm_create_group");
  MPI_Comm members         = MPI_COMM_NULL;
  return make<trace::calls::Comm_create_group>(
      function, members,
      [&] {
        if (const int wrong_comm = check_intracommunicator(comm); wrong_comm != MPI_SUCCESS)
          return wrong_comm;
        const int result = THEIRS(comm, group, tag, made);
        members          = result == MPI_SUCCESS ? *made : MPI_COMM_NULL;
        return result;
      },
      comm, group, tag, made);
}

WEFT_INTERPOSED int PMPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm* made)
{
  static const auto THEIRS = original<decltype(&PMPI_Comm_split)>(__func__);
  static auto function     = makes_communicators("MPI_Comm_split");
  return make<trace::calls::Comm_split>(
      function, comm, [&] { return THEIRS(comm, colour, key, made); }, comm, colour, key, made);
}

/** MPI_Comm_split_type as MPI_Comm_split by host, for intercommunicators too. SMPI's own function leaves the
 * communicator without a number, so that its messages match those of other communicators, and ignores the key. */
WEFT_INTERPOSED int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made)
{
  static const auto THEIRS = original<decltype(&PMPI_Comm_split_type)>(__func__);
  static auto function     = makes_communicators("MPI_Comm_split_type");
  return make<trace::calls::Comm_split_type>(
      function, comm,
      [&] {
        if (comm != MPI_COMM_NULL && made && (type == hw_guided || type == resource_guided))
          return split_by_resource(comm, type, key, info, made);
        if (comm != MPI_COMM_NULL && made && type == hw_unguided)
          return split_into_less(comm, key, info, made);
        if (comm == MPI_COMM_NULL || not made || (type != MPI_COMM_TYPE_SHARED && type != MPI_UNDEFINED))
          return THEIRS(comm, type, key, info, made);
        const VertexId host = current_run().network.vertex_of(sg::this_actor::get_host());
        return PMPI_Comm_split(comm, type == MPI_UNDEFINED ? MPI_UNDEFINED : static_cast<int>(host), key, made);
      },
      comm, type, key, info, made);
}

WEFT_INTERPOSED int PMPI_Cart_create(MPI_Comm comm, int dimensions, const int* sizes, const int* periods, int reorder,
                                     MPI_Comm* made)
{
  static const auto THEIRS = original<decltype(&PMPI_Cart_create)>(__func__);
  static auto function     = makes_communicators("MPI_Cart_create");
  return make<trace::calls::Cart_create>(
      function, comm,
      [&] {
        if (const int wrong_comm = check_intracommunicator(comm); wrong_comm != MPI_SUCCESS)
          return wrong_comm;
        if (const int wrong_size = check_grid_fits(comm, dimensions, sizes); wrong_size != MPI_SUCCESS) {
          if (made)
            *made = MPI_COMM_NULL;
          return wrong_size;
        }
        const int result = [&] {
          const CommonCreationScope common(comm == MPI_COMM_NULL ? MPI_GROUP_NULL : common_group(comm));
          return THEIRS(comm, dimensions, sizes, periods, reorder, made);
        }();
        if (result == MPI_SUCCESS && *made != MPI_COMM_NULL)
          attach_topology(*made, {grid(dimensions, sizes, periods), {}});
        return result;
      },
      comm, dimensions, sizes, periods, reorder, made);
}

// SMPI's own function leaves the topology of some parts without sizes.
WEFT_INTERPOSED int PMPI_Cart_sub(MPI_Comm comm, const int* remain, MPI_Comm* made)
{
  static const auto THEIRS = original<decltype(&PMPI_Cart_sub)>(__func__);
  static auto function     = makes_communicators("MPI_Cart_sub");
  return make<trace::calls::Cart_sub>(
      function, comm,
      [&] {
        const AttachedTopology* its = comm == MPI_COMM_NULL ? nullptr : topology_of(comm);
        if (not its || its->topology->kind != MPI_CART || not made || (not remain && not its->topology->sizes.empty()))
          return THEIRS(comm, remain, made);
        const std::shared_ptr<const VirtualTopology> whole = its->topology;
        *made = comm->split(part_number(*whole, remain, comm->rank()), comm->rank());
        if (*made != MPI_COMM_NULL)
          attach_topology(*made, {part_of_grid(*whole, remain), {}});
        return static_cast<int>(MPI_SUCCESS);
      },
      comm, remain, made);
}

// A window has its own communicator. SMPI's Allgather of the windows' addresses keeps its cost.

WEFT_INTERPOSED int PMPI_Win_create(void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* made)
{
  static const auto THEIRS = original<decltype(&PMPI_Win_create)>(__func__);
  static auto function     = makes_windows("MPI_Win_create");
  return make<trace::calls::Win_create>(
      function, comm,
      [&] {
        return on_intracommunicator(
            comm, [&] { return note_flavor(THEIRS(base, size, unit, info, comm, made), made, MPI_WIN_FLAVOR_CREATE); });
      },
      base, size, unit, info, comm, made);
}

WEFT_INTERPOSED int PMPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* made)
{
  static const auto THEIRS = original<decltype(&PMPI_Win_allocate)>(__func__);
  static auto function     = makes_windows("MPI_Win_allocate");
  return make<trace::calls::Win_allocate>(
      function, comm,
      [&] {
        return on_intracommunicator(comm, [&] {
          const bool aligned = asks_for_alignment(info) && size >= 0 && unit > 0 && base && made;
          return note_flavor(aligned ? allocate_aligned(size, unit, info, comm, base, made)
                                     : THEIRS(size, unit, info, comm, base, made),
                             made, MPI_WIN_FLAVOR_ALLOCATE);
        });
      },
      size, unit, info, comm, base, made);
}

WEFT_INTERPOSED int PMPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base,
                                             MPI_Win* made)
{
  static const auto THEIRS = original<decltype(&PMPI_Win_allocate_shared)>(__func__);
  static auto function     = makes_windows("MPI_Win_allocate_shared");
  return make<trace::calls::Win_allocate_shared>(
      function, comm,
      [&] {
        if (const int result = check_intracommunicator(comm); result != MPI_SUCCESS)
          return result;
        const bool right = comm != MPI_COMM_NULL && size >= 0 && unit > 0 && base && made;
        return note_flavor(right ? allocate_shared(size, unit, info, comm, base, made)
                                 : THEIRS(size, unit, info, comm, base, made),
                           made, MPI_WIN_FLAVOR_SHARED);
      },
      size, unit, info, comm, base, made);
}

WEFT_INTERPOSED int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* made)
{
  static const auto THEIRS = original<decltype(&PMPI_Win_create_dynamic)>(__func__);
  static auto function     = makes_windows("MPI_Win_create_dynamic");
  return make<trace::calls::Win_create_dynamic>(
      function, comm,
      [&] {
        return on_intracommunicator(
            comm, [&] { return note_flavor(THEIRS(info, comm, made), made, MPI_WIN_FLAVOR_DYNAMIC); });
      },
      info, comm, made);
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
