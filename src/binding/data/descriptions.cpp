// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/data/descriptions.hpp"

#include "binding/abi/private_abi.hpp"
#include "binding/ranks/known_counts.hpp"
#include "binding/ranks/places.hpp"

namespace weft {
namespace {

std::int64_t sum_of(const int* counts, MPI_Comm comm)
{
  return known_counts(counts, comm).sum;
}

void add_parts(CallSignature& signature, const int* counts, MPI_Datatype type, MPI_Comm comm)
{
  signature.parts        = {counts, static_cast<std::size_t>(place_in(comm).size)};
  signature.part_size    = size_of(1, type);
  signature.parts_number = known_counts(counts, comm).number;
}

/** A call whose ranks agree on a number of bytes and perhaps a root. */
Described moves(CalledCollective called, std::int64_t agreed, std::int64_t bytes, int root = -1)
{
  Described described;
  described.signature.called = called;
  described.signature.bytes  = agreed;
  described.signature.root   = root;
  described.bytes            = bytes;
  return described;
}

} // namespace

Described describe_reduction(CalledCollective called, std::int64_t count, MPI_Datatype type, MPI_Op operation, int root)
{
  const std::int64_t bytes      = count * size_of(1, type);
  Described described           = moves(called, bytes, bytes, root);
  described.signature.datatype  = type;
  described.signature.operation = operation;
  described.signature.count     = count;
  described.empty               = count == 0;
  described.message             = bytes;
  return described;
}

Described describe_reduce_scatter(CalledCollective called, const int* counts, MPI_Datatype type, MPI_Op operation,
                                  MPI_Comm comm)
{
  Described described = describe_reduction(called, sum_of(counts, comm), type, operation);
  add_parts(described.signature, counts, type, comm);
  return described;
}

Described describe_barrier(CalledCollective called)
{
  return moves(called, -1, 0);
}

Described describe_bcast(CalledCollective called, int count, MPI_Datatype type, int root)
{
  const std::int64_t bytes = size_of(count, type);
  Described described      = moves(called, bytes, bytes, root);
  described.empty          = bytes == 0;
  described.message        = bytes;
  return described;
}

Described describe_allgather(CalledCollective called, int count, MPI_Datatype type, MPI_Comm comm)
{
  const std::int64_t bytes = size_of(count, type);
  Described described      = moves(called, bytes, bytes);
  described.empty          = bytes == 0;
  described.message        = bytes * place_in(comm).size;
  return described;
}

Described describe_allgatherv(CalledCollective called, const int* counts, MPI_Datatype type, MPI_Comm comm)
{
  const std::int64_t size = size_of(1, type);
  const std::int64_t all  = sum_of(counts, comm) * size;
  Described described     = moves(called, all, counts[place_in(comm).rank] * size);
  add_parts(described.signature, counts, type, comm);
  described.empty   = all == 0;
  described.message = all;
  return described;
}

Described describe_gather(CalledCollective called, int count, MPI_Datatype type, int root_count, MPI_Datatype root_type,
                          int root, MPI_Comm comm)
{
  // At the root a rank's own arguments may be MPI_IN_PLACE's, elsewhere the root's mean nothing.
  const std::int64_t bytes = place_in(comm).rank == root ? size_of(root_count, root_type) : size_of(count, type);
  Described described      = moves(called, bytes, bytes, root);
  described.empty          = bytes == 0;
  return described;
}

Described describe_gatherv(CalledCollective called, int count, MPI_Datatype type, int root)
{
  return moves(called, -1, size_of(count, type), root);
}

Described describe_alltoall(CalledCollective called, int count, MPI_Datatype type, MPI_Comm comm)
{
  const std::int64_t bytes = size_of(count, type);
  Described described      = moves(called, bytes, bytes * place_in(comm).size);
  described.empty          = bytes == 0;
  described.message        = described.bytes;
  return described;
}

Described describe_alltoallv(CalledCollective called, const int* counts, MPI_Datatype type, MPI_Comm comm)
{
  return moves(called, -1, sum_of(counts, comm) * size_of(1, type));
}

Described describe_alltoallw(CalledCollective called, const int* counts, const MPI_Datatype* types, MPI_Comm comm)
{
  std::int64_t bytes = 0;
  for (int rank = 0; rank < place_in(comm).size; ++rank)
    bytes += size_of(counts[rank], types[rank]);
  return moves(called, -1, bytes);
}

RankBuffers reduction_buffers(const void* send, void* receive, int count, MPI_Datatype type)
{
  // SMPI leaves MPI_IN_PLACE to the algorithms of a Reduce (PMPI_Ireduce in smpi_pmpi_coll.cpp).
  return {address(send == MPI_IN_PLACE ? receive : send), count, type, address(receive), count, type};
}

RankBuffers reduce_scatter_buffers(const void* send, void* receive, const int* counts, MPI_Datatype type, MPI_Comm comm)
{
  return {
      address(send), static_cast<int>(sum_of(counts, comm)), type, address(receive), counts[place_in(comm).rank], type,
      counts};
}

} // namespace weft
