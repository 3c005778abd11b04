// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/mechanisms/multicast/multicast_data.hpp"

#include "mpi/names.hpp"

#include <cstring>

namespace weft {
namespace {

/** True if elements of a type are contiguous. */
bool lie_together(MPI_Datatype type)
{
  MPI_Aint low    = 0;
  MPI_Aint extent = 0;
  int bytes       = 0;
  if (not is_predefined(type))
    return false;
  PMPI_Type_get_extent(type, &low, &extent);
  PMPI_Type_size(type, &bytes);
  return bytes == extent;
}

} // namespace

MulticastData::MulticastData(const MulticastCall& call, const Exchange& exchange, const Movement& movement)
    : call_(call), exchange_(exchange), each_gives_(movement.gives == Share::part),
      ranks_(static_cast<std::size_t>(call.ranks()))
{
}

void MulticastData::given(int rank, const RankBuffers& buffers)
{
  if (not exchange_.part(rank) || not lie_together(buffers.receive_type))
    return;
  find_places(rank, buffers);
  for (int block = 0; each_gives_ && std::cmp_less(block, call_.sizes.size()); ++block)
    if (call_.block(block).root == rank)
      std::memcpy(place(rank, block), exchange_.part(rank), static_cast<std::size_t>(call_.size(block).value()));
}

void MulticastData::find_places(int rank, const RankBuffers& buffers)
{
  Rank& its   = at(rank);
  its.receive = static_cast<std::byte*>(buffers.receive);
  int element = 0;
  PMPI_Type_size(buffers.receive_type, &element);
  for (int block = 0; std::cmp_less(block, call_.sizes.size()); ++block) {
    const int root          = call_.block(block).root;
    std::ptrdiff_t position = 0;
    if (buffers.displacements)
      position = static_cast<std::ptrdiff_t>(buffers.displacements[root]) * element;
    else if (each_gives_) // all parts have the same size
      position = static_cast<std::ptrdiff_t>(call_.size(block).value()) * root;
    its.positions.push_back(position);
  }
}

void MulticastData::store(int rank, int block, ChunkRun run, int from)
{
  if (not stores(rank))
    return;
  const Bytes before      = bytes_of(call_.model, call_.size(block), {0, run.first});
  const auto offset       = static_cast<std::ptrdiff_t>(before.value());
  const auto count        = static_cast<std::size_t>(bytes_of(call_.model, call_.size(block), run).value());
  const int root          = call_.block(block).root;
  const bool kept         = from == root || not stores(from);
  const std::byte* source = kept ? exchange_.part(root) : place(from, block);
  if (source)
    std::memcpy(place(rank, block) + offset, source + offset, count);
}

} // namespace weft
