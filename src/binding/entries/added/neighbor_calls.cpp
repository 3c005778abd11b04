// SPDX-License-Identifier: LGPL-2.1-only
/* Neighbourhood collectives (MPI 4.1, section 8.6), which SMPI lacks: weft schedules execute them. */
#include "base/recycling_allocator.hpp"
#include "binding/abi/original.hpp"
#include "binding/calls/call.hpp"
#include "binding/data/handles.hpp"
#include "binding/data/neighbor_data.hpp"
#include "binding/data/virtual_topology.hpp"
#include "binding/entries/frame/current_run.hpp"
#include "binding/entries/frame/own_function.hpp"

#include <memory>

namespace weft {
namespace {

Side same_for_all(const void* buffer, int count, MPI_Datatype type)
{
  Side side;
  side.peers  = Side::Peers::same;
  side.buffer = const_cast<void*>(address(buffer)); // NOLINT(cppcoreguidelines-pro-type-const-cast): only read
  side.count  = count;
  side.type   = type;
  return side;
}

Side block_for_each(const void* buffer, int count, MPI_Datatype type)
{
  Side side  = same_for_all(buffer, count, type);
  side.peers = Side::Peers::each;
  return side;
}

Side neighbor_parts(const void* buffer, const int* counts, const int* displacements, MPI_Datatype type)
{
  Side side          = block_for_each(buffer, 0, type);
  side.counts        = counts;
  side.displacements = displacements;
  return side;
}

Side typed_blocks(const void* buffer, const int* counts, const MPI_Aint* offsets, const MPI_Datatype* types)
{
  Side side    = block_for_each(buffer, 0, MPI_DATATYPE_NULL);
  side.counts  = counts;
  side.offsets = offsets;
  side.types   = types;
  return side;
}

std::shared_ptr<const Neighborhood> neighborhood_of(MPI_Comm comm)
{
  return topology_of(comm)->topology->neighbors;
}

/** A rank's part in a call. */
struct NeighborCall {
  Sides sides;
  std::shared_ptr<const Neighborhood> neighborhood;

  HostShape host_shape() const
  {
    HostShape shape;
    shape.sides        = &sides;
    shape.uneven       = true;
    shape.neighborhood = neighborhood;
    return shape;
  }
  static bool has_data() { return true; }
  void come(Call& call, bool blocks) const
  {
    call.host_data<NeighborData>([&](int ranks) { return std::make_shared<NeighborData>(neighborhood, ranks); })
        .come(call.rank, sides, blocks);
  }
};

int execute_neighbors(const CallDescriptor& descriptor, const NeighborCall& parts, MPI_Comm comm)
{
  Call call(current_run(), [&] { return descriptor; }, comm);
  const CollectiveScope inside;
  const auto make_parts = [&]() -> const NeighborCall& { return parts; };
  if (call.scheduled(make_parts)) {
    Sleep until_end;
    parts.come(call, true);
    call.join_schedule(parts.host_shape(), until_end);
    call.wait_for_schedule(until_end);
  } else {
    parts.come(call, true); // a rank alone is its own only neighbour
  }
  call.leave_host_data();
  return MPI_SUCCESS;
}

int start_neighbors(const CallDescriptor& descriptor, const NeighborCall& parts, MPI_Comm comm, MPI_Request* request)
{
  const auto call = std::allocate_shared<StartedCall>(
      RecyclingAllocator<StartedCall>(), current_run(), [&] { return descriptor; }, comm);
  const CollectiveScope inside;
  const bool scheduled = call->scheduled([&]() -> const NeighborCall& { return parts; });
  parts.come(*call, false);
  *request = scheduled ? StartedCall::start_schedule(call, parts.host_shape()) : StartedCall::start_ended(call);
  return MPI_SUCCESS;
}

/** Executes a call; @p request is null for the blocking form. */
int execute_or_start(std::string_view name, std::int64_t own_bytes, const Sides& sides, MPI_Comm comm,
                     MPI_Request* request)
{
  CallDescriptor descriptor;
  descriptor.kind      = &collective(name);
  descriptor.blocking  = request == nullptr;
  descriptor.own_bytes = own_bytes;
  const NeighborCall parts{sides, neighborhood_of(comm)};
  return request ? start_neighbors(descriptor, parts, comm, request) : execute_neighbors(descriptor, parts, comm);
}

int check_topology(MPI_Comm comm)
{
  if (const int result = first_error([&] { return check_comm(comm); }, [&] { return check_intracommunicator(comm); });
      result != MPI_SUCCESS)
    return result;
  return topology_of(comm) ? MPI_SUCCESS : wrong(MPI_ERR_TOPOLOGY, "the communicator has no topology");
}

std::int64_t bytes_given(const int* counts, MPI_Datatype type, int blocks)
{
  std::int64_t bytes = 0;
  for (int block = 0; block < blocks; ++block)
    bytes += size_of(counts[block], type);
  return bytes;
}

std::int64_t bytes_given(const int* counts, const MPI_Datatype* types, int blocks)
{
  std::int64_t bytes = 0;
  for (int block = 0; block < blocks; ++block)
    bytes += size_of(counts[block], types[block]);
  return bytes;
}

MPI_Request* request_of(MPI_Request* request = nullptr)
{
  return request;
}

int check_request()
{
  return MPI_SUCCESS;
}

int check_request(const MPI_Request* request)
{
  return check_present(request, "request");
}

/** Checks the arguments of a collective with blocks of equal length. */
template <class... Request>
int check_blocks(const void* send, int send_count, MPI_Datatype send_type, const void* receive, int count,
                 MPI_Datatype type, MPI_Comm comm, Request... request)
{
  return first_error([&] { return check_topology(comm); }, [&] { return check_buffer(send, send_count, send_type); },
                     [&] { return check_buffer(receive, count, type); }, [&] { return check_request(request...); });
}

MpiFunction is_collective(const char* name)
{
  return {name, CallKind::collectives, false};
}

template <class Name, class... Request>
int allgather_from(MpiFunction& function, const void* send, int send_count, MPI_Datatype send_type, void* receive,
                   int count, MPI_Datatype type, MPI_Comm comm, Request... request)
{
  return own_function<Name>(
      function, [&] { return check_blocks(send, send_count, send_type, receive, count, type, comm, request...); },
      [&] {
        return execute_or_start("neighbor_allgather", size_of(send_count, send_type),
                                {same_for_all(send, send_count, send_type), block_for_each(receive, count, type)}, comm,
                                request_of(request...));
      },
      send, send_count, send_type, receive, count, type, comm, request...);
}

template <class Name, class... Request>
int allgatherv_from(MpiFunction& function, const void* send, int send_count, MPI_Datatype send_type, void* receive,
                    const int* counts, const int* displacements, MPI_Datatype type, MPI_Comm comm, Request... request)
{
  return own_function<Name>(
      function,
      [&] {
        return first_error(
            [&] { return check_topology(comm); }, [&] { return check_buffer(send, send_count, send_type); },
            [&] { return check_uneven_blocks(receive, counts, displacements, type, degrees_in(comm).in); },
            [&] { return check_request(request...); });
      },
      [&] {
        return execute_or_start(
            "neighbor_allgatherv", size_of(send_count, send_type),
            {same_for_all(send, send_count, send_type), neighbor_parts(receive, counts, displacements, type)}, comm,
            request_of(request...));
      },
      send, send_count, send_type, receive, counts, displacements, type, comm, request...);
}

template <class Name, class... Request>
int alltoall_with(MpiFunction& function, const void* send, int send_count, MPI_Datatype send_type, void* receive,
                  int count, MPI_Datatype type, MPI_Comm comm, Request... request)
{
  return own_function<Name>(
      function, [&] { return check_blocks(send, send_count, send_type, receive, count, type, comm, request...); },
      [&] {
        return execute_or_start("neighbor_alltoall", size_of(send_count, send_type) * degrees_in(comm).out,
                                {block_for_each(send, send_count, send_type), block_for_each(receive, count, type)},
                                comm, request_of(request...));
      },
      send, send_count, send_type, receive, count, type, comm, request...);
}

template <class Name, class... Request>
int alltoallv_with(MpiFunction& function, const void* send, const int* send_counts, const int* send_displacements,
                   MPI_Datatype send_type, void* receive, const int* counts, const int* displacements,
                   MPI_Datatype type, MPI_Comm comm, Request... request)
{
  return own_function<Name>(
      function,
      [&] {
        return first_error(
            [&] { return check_topology(comm); },
            [&] { return check_uneven_blocks(send, send_counts, send_displacements, send_type, degrees_in(comm).out); },
            [&] { return check_uneven_blocks(receive, counts, displacements, type, degrees_in(comm).in); },
            [&] { return check_request(request...); });
      },
      [&] {
        return execute_or_start("neighbor_alltoallv", bytes_given(send_counts, send_type, degrees_in(comm).out),
                                {neighbor_parts(send, send_counts, send_displacements, send_type),
                                 neighbor_parts(receive, counts, displacements, type)},
                                comm, request_of(request...));
      },
      send, send_counts, send_displacements, send_type, receive, counts, displacements, type, comm, request...);
}

template <class Name, class... Request>
int alltoallw_with(MpiFunction& function, const void* send, const int* send_counts, const MPI_Aint* send_offsets,
                   const MPI_Datatype* send_types, void* receive, const int* counts, const MPI_Aint* offsets,
                   const MPI_Datatype* types, MPI_Comm comm, Request... request)
{
  return own_function<Name>(
      function,
      [&] {
        return first_error(
            [&] { return check_topology(comm); },
            [&] { return check_uneven_blocks(send, send_counts, send_offsets, send_types, degrees_in(comm).out); },
            [&] { return check_uneven_blocks(receive, counts, offsets, types, degrees_in(comm).in); },
            [&] { return check_request(request...); });
      },
      [&] {
        return execute_or_start(
            "neighbor_alltoallw", bytes_given(send_counts, send_types, degrees_in(comm).out),
            {typed_blocks(send, send_counts, send_offsets, send_types), typed_blocks(receive, counts, offsets, types)},
            comm, request_of(request...));
      },
      send, send_counts, send_offsets, send_types, receive, counts, offsets, types, comm, request...);
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

#include "mpi/neighbor_calls.inc"
