// SPDX-License-Identifier: LGPL-2.1-only
/* Virtual topologies of communicators (MPI 4.1, chapter 8). weft stores them in an attribute of the communicator, which
 * a copy of the communicator inherits. SMPI has Cartesian ones only, and executes the calls that query them. */
#pragma once

#include "binding/data/neighborhood.hpp"

#include <smpi/smpi.h>

#include <memory>
#include <vector>

namespace weft {

struct VirtualTopology {
  SMPI_Topo_type kind = MPI_INVALID_TOPO;
  std::shared_ptr<const Neighborhood> neighbors;
  std::vector<int> sizes;     ///< Cartesian: ranks of each dimension
  std::vector<bool> periodic; ///< Cartesian: by dimension
  std::vector<int> index;     ///< graph: as in MPI_Graph_create
  std::vector<int> edges;     ///< graph: as in MPI_Graph_create
};

/** Weights of a rank's edges in a distributed graph. */
struct EdgeWeights {
  bool weighted = false;
  std::vector<int> sources;
  std::vector<int> destinations;
};

/** Topology of a communicator as one rank sees it. */
struct AttachedTopology {
  std::shared_ptr<const VirtualTopology> topology;
  EdgeWeights weights;
};

/** Returns the topology of @p comm; null if it has none. */
const AttachedTopology* topology_of(MPI_Comm comm);

/** Attaches a topology to a new communicator. */
void attach_topology(MPI_Comm comm, AttachedTopology topology);

/** Returns a Cartesian topology. */
std::shared_ptr<const VirtualTopology> cartesian_topology(std::vector<int> sizes, std::vector<bool> periodic);

/** Returns the coordinates of @p rank in a Cartesian topology. */
std::vector<int> coordinates(const VirtualTopology& grid, int rank);

/** Numbers of source and destination neighbours of the current rank. */
struct Degrees {
  int in;
  int out;
};
/** Returns the degrees in @p comm, which has a topology. */
Degrees degrees_in(MPI_Comm comm);

} // namespace weft
