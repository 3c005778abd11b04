// SPDX-License-Identifier: LGPL-2.1-only
/* MPI_IN_PLACE with derived datatypes.
 *
 * Before SMPI calls an algorithm, it copies an in-place contribution into count times the type's
 * extent, gaps included. A type with elements before its address or beyond its extent overruns that
 * memory. weft therefore makes the copy itself, so that SMPI sees a call that is not in place. SMPI's blocking calls
 * also pass through here. */
#include "binding/calls/in_place.hpp"

#include "binding/abi/smpi/communicators.hpp"
#include "binding/calls/call.hpp"
#include "binding/data/elements.hpp"
#include "binding/data/host_data.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

namespace weft {
namespace {

/** Returns whether weft has to copy a rank's contribution. Invalid arguments are left for SMPI to report. */
bool copies(const void* send, int count, MPI_Datatype type, MPI_Comm comm)
{
  return send == MPI_IN_PLACE && count > 0 && comm != MPI_COMM_NULL && type != MPI_DATATYPE_NULL && not is_plain(type);
}

/** Blocks that a rank sends in an in-place Alltoallv or Alltoallw, packed into bytes. */
struct Swapped {
  std::vector<std::byte> bytes;
  std::vector<int> counts;
  std::vector<int> places;
  std::vector<MPI_Datatype> types;

  Swapped(const void* from, std::span<const int> given, std::span<const std::int64_t> at,
          std::span<const MPI_Datatype> of)
      : types(given.size(), MPI_BYTE)
  {
    for (std::size_t rank = 0; rank < given.size(); ++rank) {
      const std::size_t size = given[rank] > 0 ? static_cast<std::size_t>(given[rank]) * element_size(of[rank]) : 0;
      places.push_back(static_cast<int>(bytes.size()));
      counts.push_back(static_cast<int>(size));
      bytes.resize(bytes.size() + size);
      if (size > 0)
        pack(static_cast<const std::byte*>(address(from)) + at[rank], given[rank], of[rank],
             bytes.data() + places.back());
    }
  }
};

} // namespace

int in_place_reduction(decltype(&PMPI_Iallreduce) next_definition, const void* send, void* receive, int count,
                       MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request)
{
  if (not copies(send, count, type, comm))
    return next_definition(send, receive, count, type, op, comm, request);
  const Values copy(address(receive), count, type);
  return next_definition(copy.data(), receive, count, type, op, comm, request);
}

// NOLINTBEGIN(readability-identifier-naming): MPI's names

int in_place_Ireduce_scatter(decltype(&PMPI_Ireduce_scatter) next_definition, const void* send, void* receive,
                             const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request)
{
  if (not counts || not copies(send, 1, type, comm))
    return next_definition(send, receive, counts, type, op, comm, request);
  const Values copy(address(receive), std::accumulate(counts, counts + comm->size(), 0), type);
  return next_definition(copy.data(), receive, counts, type, op, comm, request);
}

int in_place_Ireduce_scatter_block(decltype(&PMPI_Ireduce_scatter_block) next_definition, const void* send,
                                   void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                                   MPI_Request* request)
{
  if (not copies(send, count, type, comm))
    return next_definition(send, receive, count, type, op, comm, request);
  const Values copy(address(receive), count * comm->size(), type);
  return next_definition(copy.data(), receive, count, type, op, comm, request);
}

int in_place_Ialltoall(decltype(&PMPI_Ialltoall) next_definition, const void* send, int send_count,
                       MPI_Datatype send_type, void* receive, int count, MPI_Datatype type, MPI_Comm comm,
                       MPI_Request* request)
{
  if (not copies(send, count, type, comm))
    return next_definition(send, send_count, send_type, receive, count, type, comm, request);
  const Values copy(address(receive), count * comm->size(), type);
  return next_definition(copy.data(), count, type, receive, count, type, comm, request);
}

int in_place_Ialltoallv(decltype(&PMPI_Ialltoallv) next_definition, const void* send, const int* send_counts,
                        const int* send_displacements, MPI_Datatype send_type, void* receive, const int* counts,
                        const int* displacements, MPI_Datatype type, MPI_Comm comm, MPI_Request* request)
{
  if (not counts || not displacements || not copies(send, 1, type, comm))
    return next_definition(send, send_counts, send_displacements, send_type, receive, counts, displacements, type, comm,
                           request);
  const auto ranks = static_cast<std::size_t>(comm->size());
  std::vector<std::int64_t> places(displacements, displacements + ranks);
  for (std::int64_t& place : places)
    place *= extent_of(type);
  const Swapped swapped(receive, {counts, ranks}, places, std::vector<MPI_Datatype>(ranks, type));
  return next_definition(swapped.bytes.data(), swapped.counts.data(), swapped.places.data(), MPI_BYTE, receive, counts,
                         displacements, type, comm, request);
}

int in_place_Ialltoallw(decltype(&PMPI_Ialltoallw) next_definition, const void* send, const int* send_counts,
                        const int* send_displacements, const MPI_Datatype* send_types, void* receive, const int* counts,
                        const int* displacements, const MPI_Datatype* types, MPI_Comm comm, MPI_Request* request)
{
  if (send != MPI_IN_PLACE || not counts || not displacements || not types || comm == MPI_COMM_NULL)
    return next_definition(send, send_counts, send_displacements, send_types, receive, counts, displacements, types,
                           comm, request);
  const auto ranks = static_cast<std::size_t>(comm->size());
  const std::vector<std::int64_t> places(displacements, displacements + ranks);
  const Swapped swapped(receive, {counts, ranks}, places, {types, ranks});
  return next_definition(swapped.bytes.data(), swapped.counts.data(), swapped.places.data(), swapped.types.data(),
                         receive, counts, displacements, types, comm, request);
}

// NOLINTEND(readability-identifier-naming)

} // namespace weft
