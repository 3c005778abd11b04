// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/intercommunicators/collectives.hpp"

#include "base/recycling_allocator.hpp"
#include "binding/abi/smpi/communicators.hpp"
#include "binding/calls/call.hpp"
#include "binding/calls/host_calls.hpp"
#include "binding/data/between_data.hpp"
#include "binding/data/handles.hpp"
#include "binding/data/neighbor_data.hpp"
#include "binding/entries/frame/current_run.hpp"
#include "binding/entries/frame/own_function.hpp"
#include "binding/ranks/intercommunicators.hpp"

#include <memory>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {
namespace {

/** A rank's part in a call, with ranks counted through both groups. */
struct BetweenCall {
  const Intercommunicator& its;
  BetweenGroups groups;
  // For calls that move data.
  Sides sides                  = {};
  Neighborhood::Edges received = {};
  Neighborhood::Edges sent     = {};
  // For reductions.
  bool reduces      = false;
  GivenValues given = {};
  GotPart got       = {};

  explicit BetweenCall(MPI_Comm comm) : its(*intercommunicator_of(comm))
  {
    groups.own_size    = its.local->size();
    groups.other_size  = comm->size();
    groups.own_begin   = its.first ? 0 : groups.other_size;
    groups.other_begin = its.first ? groups.own_size : 0;
  }
  int place() const { return its.local->rank(); }
  bool is_root() const { return groups.root == groups.own_begin + place(); }
  /** Returns whether the root is in the remote group. */
  bool has_remote_root() const { return groups.root >= 0 && not is_root(); }

  void set_root(int root)
  {
    if (root == OWN_ROOT)
      groups.root = groups.own_begin + place();
    else if (root != MPI_PROC_NULL)
      groups.root = groups.other_begin + root;
  }
  /** Returns an edge with each remote rank, which has index @p place among that rank's edges. */
  Neighborhood::Edges edges_across(int place) const
  {
    Neighborhood::Edges edges;
    for (int rank = 0; rank < groups.other_size; ++rank)
      edges.push_back({groups.other_begin + rank, place});
    return edges;
  }
  /** Returns the edge with the root. */
  Neighborhood::Edges edge_to_root() const { return {{groups.root, place()}}; }

  HostShape host_shape() const
  {
    HostShape shape;
    shape.uneven  = true;
    shape.between = &groups;
    return shape;
  }
  void come(Call& call, bool blocks) const
  {
    const int first = groups.own_begin == 0 ? groups.own_size : groups.other_size;
    if (reduces)
      call.host_data<BetweenReduction>([&](int ranks) { return std::make_shared<BetweenReduction>(first, ranks); })
          .come(call.rank, given, got);
    else
      call.host_data<NeighborData>([&](int ranks) { return std::make_shared<NeighborData>(nullptr, ranks); })
          .come(call.rank, received, sent, sides, blocks);
  }
};

void execute_between(const CallDescriptor& descriptor, const BetweenCall& parts)
{
  Call call(current_run(), [&] { return descriptor; }, parts.its.both);
  const CollectiveScope inside;
  Sleep until_end;
  call.scheduled([&]() -> const BetweenCall& { return parts; });
  parts.come(call, true);
  call.join_schedule(parts.host_shape(), until_end);
  call.wait_for_schedule(until_end);
  call.leave_host_data();
}

MPI_Request start_between(const CallDescriptor& descriptor, const BetweenCall& parts)
{
  const auto call = std::allocate_shared<StartedCall>(
      RecyclingAllocator<StartedCall>(), current_run(), [&] { return descriptor; }, parts.its.both);
  const CollectiveScope inside;
  call->scheduled([&]() -> const BetweenCall& { return parts; });
  parts.come(*call, false);
  return StartedCall::start_schedule(call, parts.host_shape());
}

/** Executes a call, or starts it if there is a request. */
int run_between(std::string_view name, const BetweenCall& parts, MPI_Request* request)
{
  CallDescriptor descriptor;
  descriptor.kind           = &collective(name);
  descriptor.blocking       = request == nullptr;
  descriptor.between_groups = true;
  descriptor.own_bytes      = parts.groups.gives;
  const InMpi inside;
  if (request)
    *request = start_between(descriptor, parts);
  else
    execute_between(descriptor, parts);
  return MPI_SUCCESS;
}

int check_between_root(int root, MPI_Comm comm)
{
  if (root == OWN_ROOT || root == MPI_PROC_NULL || (root >= 0 && root < comm->size()))
    return MPI_SUCCESS;
  return wrong_number(MPI_ERR_ROOT, "the root", root,
                      "MPI_ROOT, MPI_PROC_NULL, 0 to " + std::to_string(comm->size() - 1));
}

int check_operation(MPI_Op op)
{
  return op == MPI_OP_NULL ? wrong(MPI_ERR_OP, "the operation is MPI_OP_NULL") : static_cast<int>(MPI_SUCCESS);
}

int check_reduction_between(const void* send, const void* receive, int count, MPI_Datatype type, MPI_Op op)
{
  return first_error([&] { return check_buffer(send, count, type); },
                     [&] { return check_buffer(receive, count, type); }, [&] { return check_operation(op); });
}

std::vector<Elements> bytes_of_blocks(const int* counts, MPI_Datatype type, int blocks)
{
  std::vector<Elements> bytes;
  bytes.reserve(static_cast<std::size_t>(blocks));
  for (int block = 0; block < blocks; ++block)
    bytes.push_back(size_of(counts[block], type));
  return bytes;
}

std::vector<Elements> bytes_of_blocks(const int* counts, const MPI_Datatype* types, int blocks)
{
  std::vector<Elements> bytes;
  bytes.reserve(static_cast<std::size_t>(blocks));
  for (int block = 0; block < blocks; ++block)
    bytes.push_back(size_of(counts[block], types[block]));
  return bytes;
}

/** Returns the same block for each remote rank. */
Side same_across(const void* buffer, int count, MPI_Datatype type)
{
  Side side  = to_each(buffer, count, type);
  side.peers = Side::Peers::same;
  return side;
}

/** Fills in a gather or scatter: @p at_root for the root, and @p other for the remote group's ranks. */
void set_gathering(BetweenCall& call, const Side& at_root, const Side& other)
{
  if (call.is_root()) {
    call.sides.gets = at_root;
    call.received   = call.edges_across(0);
  } else if (call.has_remote_root()) {
    call.sides.gives = other;
    call.sent        = call.edge_to_root();
  }
}

void set_scattering(BetweenCall& call, const Side& at_root, const Side& other)
{
  if (call.is_root()) {
    call.sides.gives = at_root;
    call.sent        = call.edges_across(0);
  } else if (call.has_remote_root()) {
    call.sides.gets = other;
    call.received   = call.edge_to_root();
  }
}

void set_exchange(BetweenCall& call, const Side& gives, const Side& gets)
{
  call.sides    = {gives, gets};
  call.sent     = call.edges_across(call.place());
  call.received = call.edges_across(call.place());
}

/** Fills in a rank's contribution to and result of a reduction: @p count elements, starting with @p first. */
void set_reduction(BetweenCall& call, const void* send, int send_count, void* receive, int first, int count,
                   MPI_Datatype type, MPI_Op op)
{
  call.reduces = true;
  call.given   = {address(send), send_count, type, op, true};
  call.got     = {address(receive), first, count, type};
}

} // namespace

// NOLINTBEGIN(readability-identifier-naming): MPI's names

int between_Ibarrier(MPI_Comm comm, MPI_Request* request)
{
  BetweenCall call(comm);
  call.reduces = true; // without data
  return run_between("barrier", call, request);
}

int between_Ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request)
{
  if (const int result = check_between_root(root, comm); result != MPI_SUCCESS)
    return result;
  BetweenCall call(comm);
  call.set_root(root);
  if (call.groups.root >= 0) {
    if (const int result = check_buffer(buffer, count, type); result != MPI_SUCCESS)
      return result;
    call.groups.gives = call.groups.gets = size_of(count, type);
    set_scattering(call, same_across(buffer, count, type), of_each(buffer, count, type));
  }
  return run_between("bcast", call, request);
}

int between_Igather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                    MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request)
{
  BetweenCall call(comm);
  call.set_root(root);
  const int result = first_error(
      [&] { return check_between_root(root, comm); },
      [&] { return call.is_root() ? check_buffer(receive, count, type) : static_cast<int>(MPI_SUCCESS); },
      [&] {
        return call.has_remote_root() ? check_buffer(send, send_count, send_type) : static_cast<int>(MPI_SUCCESS);
      });
  if (result != MPI_SUCCESS)
    return result;
  if (call.is_root())
    call.groups.gets = size_of(count, type);
  else if (call.has_remote_root())
    call.groups.gives = size_of(send_count, send_type);
  set_gathering(call, of_each(receive, count, type), same_across(send, send_count, send_type));
  return run_between("gather", call, request);
}

int between_Igatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int* counts,
                     const int* displacements, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request)
{
  BetweenCall call(comm);
  call.set_root(root);
  const int ranks  = call.groups.other_size;
  const int result = first_error([&] { return check_between_root(root, comm); },
                                 [&] {
                                   return call.is_root()
                                              ? check_uneven_blocks(receive, counts, displacements, type, ranks)
                                              : static_cast<int>(MPI_SUCCESS);
                                 },
                                 [&] {
                                   return call.has_remote_root() ? check_buffer(send, send_count, send_type)
                                                                 : static_cast<int>(MPI_SUCCESS);
                                 });
  if (result != MPI_SUCCESS)
    return result;
  if (call.is_root())
    call.groups.from = bytes_of_blocks(counts, type, ranks);
  else if (call.has_remote_root())
    call.groups.gives = size_of(send_count, send_type);
  set_gathering(call, of_each(receive, 0, type, counts, displacements), same_across(send, send_count, send_type));
  return run_between("gatherv", call, request);
}

int between_Iscatter(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                     MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request)
{
  BetweenCall call(comm);
  call.set_root(root);
  const int result = first_error(
      [&] { return check_between_root(root, comm); },
      [&] { return call.is_root() ? check_buffer(send, send_count, send_type) : static_cast<int>(MPI_SUCCESS); },
      [&] { return call.has_remote_root() ? check_buffer(receive, count, type) : static_cast<int>(MPI_SUCCESS); });
  if (result != MPI_SUCCESS)
    return result;
  if (call.is_root())
    call.groups.gives = size_of(send_count, send_type);
  else if (call.has_remote_root())
    call.groups.gets = size_of(count, type);
  set_scattering(call, to_each(send, send_count, send_type), of_each(receive, count, type));
  return run_between("scatter", call, request);
}

int between_Iscatterv(const void* send, const int* counts, const int* displacements, MPI_Datatype send_type,
                      void* receive, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request)
{
  BetweenCall call(comm);
  call.set_root(root);
  const int ranks  = call.groups.other_size;
  const int result = first_error(
      [&] { return check_between_root(root, comm); },
      [&] {
        return call.is_root() ? check_uneven_blocks(send, counts, displacements, send_type, ranks)
                              : static_cast<int>(MPI_SUCCESS);
      },
      [&] { return call.has_remote_root() ? check_buffer(receive, count, type) : static_cast<int>(MPI_SUCCESS); });
  if (result != MPI_SUCCESS)
    return result;
  if (call.is_root())
    call.groups.to = bytes_of_blocks(counts, send_type, ranks);
  else if (call.has_remote_root())
    call.groups.gets = size_of(count, type);
  set_scattering(call, to_each(send, 0, send_type, counts, displacements), of_each(receive, count, type));
  return run_between("scatterv", call, request);
}

int between_Iallgather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                       MPI_Datatype type, MPI_Comm comm, MPI_Request* request)
{
  if (const int result = first_error([&] { return check_buffer(send, send_count, send_type); },
                                     [&] { return check_buffer(receive, count, type); });
      result != MPI_SUCCESS)
    return result;
  BetweenCall call(comm);
  call.groups.gives = size_of(send_count, send_type);
  call.groups.gets  = size_of(count, type);
  set_exchange(call, same_across(send, send_count, send_type), of_each(receive, count, type));
  return run_between("allgather", call, request);
}

int between_Iallgatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int* counts,
                        const int* displacements, MPI_Datatype type, MPI_Comm comm, MPI_Request* request)
{
  if (const int result =
          first_error([&] { return check_buffer(send, send_count, send_type); },
                      [&] { return check_uneven_blocks(receive, counts, displacements, type, comm->size()); });
      result != MPI_SUCCESS)
    return result;
  BetweenCall call(comm);
  call.groups.gives = size_of(send_count, send_type);
  call.groups.from  = bytes_of_blocks(counts, type, comm->size());
  set_exchange(call, same_across(send, send_count, send_type), of_each(receive, 0, type, counts, displacements));
  return run_between("allgatherv", call, request);
}

int between_Ialltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive, int count,
                      MPI_Datatype type, MPI_Comm comm, MPI_Request* request)
{
  if (const int result = first_error([&] { return check_buffer(send, send_count, send_type); },
                                     [&] { return check_buffer(receive, count, type); });
      result != MPI_SUCCESS)
    return result;
  BetweenCall call(comm);
  call.groups.gives = size_of(send_count, send_type);
  call.groups.gets  = size_of(count, type);
  set_exchange(call, to_each(send, send_count, send_type), of_each(receive, count, type));
  return run_between("alltoall", call, request);
}

int between_Ialltoallv(const void* send, const int* send_counts, const int* send_displacements, MPI_Datatype send_type,
                       void* receive, const int* counts, const int* displacements, MPI_Datatype type, MPI_Comm comm,
                       MPI_Request* request)
{
  const int ranks = comm->size();
  if (const int result =
          first_error([&] { return check_uneven_blocks(send, send_counts, send_displacements, send_type, ranks); },
                      [&] { return check_uneven_blocks(receive, counts, displacements, type, ranks); });
      result != MPI_SUCCESS)
    return result;
  BetweenCall call(comm);
  call.groups.to   = bytes_of_blocks(send_counts, send_type, ranks);
  call.groups.from = bytes_of_blocks(counts, type, ranks);
  set_exchange(call, to_each(send, 0, send_type, send_counts, send_displacements),
               of_each(receive, 0, type, counts, displacements));
  return run_between("alltoallv", call, request);
}

int between_Ialltoallw(const void* send, const int* send_counts, const int* send_displacements,
                       const MPI_Datatype* send_types, void* receive, const int* counts, const int* displacements,
                       const MPI_Datatype* types, MPI_Comm comm, MPI_Request* request)
{
  const int ranks = comm->size();
  if (const int result =
          first_error([&] { return check_uneven_blocks(send, send_counts, send_displacements, send_types, ranks); },
                      [&] { return check_uneven_blocks(receive, counts, displacements, types, ranks); });
      result != MPI_SUCCESS)
    return result;
  BetweenCall call(comm);
  call.groups.to   = bytes_of_blocks(send_counts, send_types, ranks);
  call.groups.from = bytes_of_blocks(counts, types, ranks);
  set_exchange(call, to_each(send, 0, MPI_DATATYPE_NULL, send_counts, send_displacements, send_types),
               of_each(receive, 0, MPI_DATATYPE_NULL, counts, displacements, types));
  return run_between("alltoallw", call, request);
}

int between_Ireduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                    MPI_Request* request)
{
  BetweenCall call(comm);
  call.set_root(root);
  const int result =
      first_error([&] { return check_between_root(root, comm); },
                  [&] { return call.groups.root >= 0 ? check_operation(op) : static_cast<int>(MPI_SUCCESS); },
                  [&] {
                    return call.groups.root >= 0 ? check_buffer(call.is_root() ? receive : send, count, type)
                                                 : static_cast<int>(MPI_SUCCESS);
                  });
  if (result != MPI_SUCCESS)
    return result;
  call.reduces = true;
  if (call.groups.root >= 0) {
    call.groups.gives = call.groups.gets = size_of(count, type);
    set_reduction(call, send, count, receive, 0, count, type, op);
    call.given.contributes = not call.is_root();
    if (not call.is_root())
      call.got = {};
  }
  return run_between("reduce", call, request);
}

int between_Iallreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                       MPI_Request* request)
{
  if (const int result = check_reduction_between(send, receive, count, type, op); result != MPI_SUCCESS)
    return result;
  BetweenCall call(comm);
  call.groups.gives = call.groups.gets = size_of(count, type);
  set_reduction(call, send, count, receive, 0, count, type, op);
  return run_between("allreduce", call, request);
}

int between_Ireduce_scatter(const void* send, void* receive, const int* counts, MPI_Datatype type, MPI_Op op,
                            MPI_Comm comm, MPI_Request* request)
{
  BetweenCall call(comm);
  if (const int result = check_present(counts, "recvcounts"); result != MPI_SUCCESS)
    return result;
  for (int rank = 0; rank < call.groups.own_size; ++rank)
    if (counts[rank] < 0)
      return wrong_number(MPI_ERR_COUNT, "a count", counts[rank], "from 0 on");
  const int place = call.place();
  const int first = std::accumulate(counts, counts + place, 0);
  const int total = std::accumulate(counts + place, counts + call.groups.own_size, first);
  if (const int result =
          first_error([&] { return check_buffer(send, total, type); },
                      [&] { return check_buffer(receive, counts[place], type); }, [&] { return check_operation(op); });
      result != MPI_SUCCESS)
    return result;
  call.groups.gives = size_of(total, type);
  call.groups.gets  = size_of(counts[place], type);
  call.groups.parts = bytes_of_blocks(counts, type, call.groups.own_size);
  set_reduction(call, send, total, receive, first, counts[place], type, op);
  return run_between("reduce_scatter", call, request);
}

int between_Ireduce_scatter_block(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,
                                  MPI_Comm comm, MPI_Request* request)
{
  BetweenCall call(comm);
  const int total = count * call.groups.own_size;
  if (const int result =
          first_error([&] { return check_buffer(send, total, type); },
                      [&] { return check_buffer(receive, count, type); }, [&] { return check_operation(op); });
      result != MPI_SUCCESS)
    return result;
  call.groups.gives = size_of(total, type);
  call.groups.gets  = size_of(count, type);
  set_reduction(call, send, total, receive, count * call.place(), count, type, op);
  return run_between("reduce_scatter", call, request);
}

int between_Iscan(const void* /*send*/, void* /*receive*/, int /*count*/, MPI_Datatype /*type*/, MPI_Op /*op*/,
                  MPI_Comm comm, MPI_Request* /*request*/)
{
  return check_intracommunicator(comm);
}

int between_Iexscan(const void* /*send*/, void* /*receive*/, int /*count*/, MPI_Datatype /*type*/, MPI_Op /*op*/,
                    MPI_Comm comm, MPI_Request* /*request*/)
{
  return check_intracommunicator(comm);
}

// NOLINTEND(readability-identifier-naming)

} // namespace weft
