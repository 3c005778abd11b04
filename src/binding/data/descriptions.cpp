// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/data/descriptions.hpp"

#include "binding/data/handles.hpp"
#include "binding/ranks/counts_summary.hpp"
#include "binding/ranks/places.hpp"

namespace weft {
namespace {

std::int64_t sum_of(const int* counts, MPI_Comm comm)
{
  return summarize_counts(counts, comm).sum;
}

void add_counts(CallDescriptor& call, const int* counts, std::int64_t size, MPI_Comm comm)
{
  call.counts        = {counts, static_cast<std::size_t>(place_in(comm).size)};
  call.count_size    = size;
  call.counts_number = summarize_counts(counts, comm).number;
}

/** Returns a descriptor whose ranks agree on a number of bytes and perhaps a root. */
CallDescriptor in_bytes(CallDescriptor call, std::int64_t agreed, std::int64_t own, int root = -1)
{
  call.elements  = agreed;
  call.own_bytes = own;
  call.root      = root;
  return call;
}

} // namespace

CallDescriptor describe_reduction(CallDescriptor call, std::int64_t count, MPI_Datatype type, MPI_Op operation,
                                  int root)
{
  call.elements  = count;
  call.type      = element_type(type);
  call.operation = reduction_operation(operation);
  call.root      = root;
  call.own_bytes = count * call.element_size();
  return call;
}

CallDescriptor describe_reduce_scatter(const CallDescriptor& form, const int* counts, MPI_Datatype type,
                                       MPI_Op operation, MPI_Comm comm)
{
  CallDescriptor call = describe_reduction(form, sum_of(counts, comm), type, operation);
  add_counts(call, counts, call.element_size(), comm);
  return call;
}

CallDescriptor describe_barrier(const CallDescriptor& form)
{
  return form;
}

CallDescriptor describe_bcast(const CallDescriptor& form, int count, MPI_Datatype type, int root)
{
  const std::int64_t bytes = size_of(count, type);
  return in_bytes(form, bytes, bytes, root);
}

CallDescriptor describe_allgather(const CallDescriptor& form, int count, MPI_Datatype type)
{
  const std::int64_t bytes = size_of(count, type);
  return in_bytes(form, bytes, bytes);
}

CallDescriptor describe_allgatherv(const CallDescriptor& form, const int* counts, MPI_Datatype type, MPI_Comm comm)
{
  const std::int64_t size = size_of(1, type);
  CallDescriptor call     = in_bytes(form, sum_of(counts, comm) * size, counts[place_in(comm).rank] * size);
  add_counts(call, counts, size, comm);
  return call;
}

CallDescriptor describe_gather(const CallDescriptor& form, int count, MPI_Datatype type, int root_count,
                               MPI_Datatype root_type, int root, MPI_Comm comm)
{
  // At the root, a rank's own arguments may be replaced by MPI_IN_PLACE; elsewhere the root's arguments are not
  // significant.
  const std::int64_t bytes = place_in(comm).rank == root ? size_of(root_count, root_type) : size_of(count, type);
  return in_bytes(form, bytes, bytes, root);
}

CallDescriptor describe_gatherv(const CallDescriptor& form, int count, MPI_Datatype type, int root)
{
  return in_bytes(form, CallDescriptor::NOT_AGREED, size_of(count, type), root);
}

CallDescriptor describe_alltoall(const CallDescriptor& form, int count, MPI_Datatype type, MPI_Comm comm)
{
  const std::int64_t bytes = size_of(count, type);
  return in_bytes(form, bytes, bytes * place_in(comm).size);
}

CallDescriptor describe_alltoallv(const CallDescriptor& form, const int* counts, MPI_Datatype type, MPI_Comm comm)
{
  return in_bytes(form, CallDescriptor::NOT_AGREED, sum_of(counts, comm) * size_of(1, type));
}

CallDescriptor describe_alltoallw(const CallDescriptor& form, const int* counts, const MPI_Datatype* types,
                                  MPI_Comm comm)
{
  std::int64_t bytes = 0;
  for (int rank = 0; rank < place_in(comm).size; ++rank)
    bytes += size_of(counts[rank], types[rank]);
  return in_bytes(form, CallDescriptor::NOT_AGREED, bytes);
}

RankBuffers reduction_buffers(const void* send, void* receive, int count, MPI_Datatype type)
{
  // SMPI leaves it to the algorithms of a Reduce to resolve MPI_IN_PLACE (PMPI_Ireduce in smpi_pmpi_coll.cpp).
  return {address(send == MPI_IN_PLACE ? receive : send), count, type, address(receive), count, type};
}

RankBuffers reduce_scatter_buffers(const void* send, void* receive, const int* counts, MPI_Datatype type, MPI_Comm comm)
{
  return {
      address(send), static_cast<int>(sum_of(counts, comm)), type, address(receive), counts[place_in(comm).rank], type,
      counts};
}

} // namespace weft
