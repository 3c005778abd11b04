// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/data/virtual_topology.hpp"

#include "binding/ranks/communicator_numbers.hpp"
#include "binding/ranks/places.hpp"

#include <utility>

namespace weft {
namespace {

int copy_topology(MPI_Comm /*comm*/, int /*key*/, void* /*state*/, void* value, void* copy, int* flag)
{
  *static_cast<void**>(copy) = new AttachedTopology(*static_cast<const AttachedTopology*>(value));
  *flag                      = 1;
  return MPI_SUCCESS;
}

int free_topology(MPI_Comm /*comm*/, int /*key*/, void* value, void* /*state*/)
{
  delete static_cast<AttachedTopology*>(value);
  return MPI_SUCCESS;
}

/** Returns the key of the attribute. */
int topology_key()
{
  static const int KEY = [] {
    int key = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(copy_topology, free_topology, &key, nullptr);
    return key;
  }();
  return KEY;
}

} // namespace

const AttachedTopology* topology_of(MPI_Comm comm)
{
  if (number_of(comm) < 0) // MPI_COMM_WORLD
    return nullptr;
  void* value = nullptr;
  int found   = 0;
  PMPI_Comm_get_attr(comm, topology_key(), static_cast<void*>(&value), &found);
  return found != 0 ? static_cast<const AttachedTopology*>(value) : nullptr;
}

void attach_topology(MPI_Comm comm, AttachedTopology topology)
{
  PMPI_Comm_set_attr(comm, topology_key(), new AttachedTopology(std::move(topology)));
}

std::shared_ptr<const VirtualTopology> cartesian_topology(std::vector<int> sizes, std::vector<bool> periodic)
{
  auto made       = std::make_shared<VirtualTopology>();
  made->kind      = MPI_CART;
  made->neighbors = cartesian_neighborhood(sizes, periodic);
  made->sizes     = std::move(sizes);
  made->periodic  = std::move(periodic);
  return made;
}

std::vector<int> coordinates(const VirtualTopology& grid, int rank)
{
  std::vector<int> all(grid.sizes.size());
  for (std::size_t dimension = all.size(); dimension-- > 0; rank /= grid.sizes[dimension])
    all[dimension] = rank % grid.sizes[dimension];
  return all;
}

Degrees degrees_in(MPI_Comm comm)
{
  const Neighborhood& neighbors = *topology_of(comm)->topology->neighbors;
  const int rank                = place_in(comm).rank;
  return {static_cast<int>(neighbors.received(rank).size()), static_cast<int>(neighbors.sent(rank).size())};
}

} // namespace weft
