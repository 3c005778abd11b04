// SPDX-License-Identifier: LGPL-2.1-only
/* Neighbours of each rank of a communicator with a topology, and the mapping between blocks sent and blocks
 * received. */
#pragma once

#include <memory>
#include <vector>

namespace weft {

/** Edge of a topology at one of its two ranks. */
struct NeighborEdge {
  int peer;       ///< rank at the far end; negative: none (MPI_PROC_NULL)
  int place = -1; ///< the edge's index among the peer's edges; -1: the peer does not name this rank
};

class Neighborhood {
public:
  using Edges = std::vector<NeighborEdge>;

  virtual ~Neighborhood() = default;
  /** Returns the edges on which @p rank receives, in MPI's order of neighbours. */
  virtual Edges received(int rank) const = 0;
  /** Returns the edges on which @p rank sends. */
  virtual Edges sent(int rank) const = 0;
  virtual bool cartesian() const { return false; }
  /** Returns whether every rank's source neighbours are also its destinations, in the same order. */
  virtual bool undirected() const { return true; }
};

/** Returns the neighbours in a Cartesian topology: for each dimension, in negative and in positive direction. */
std::shared_ptr<const Neighborhood> cartesian_neighborhood(std::vector<int> sizes, std::vector<bool> periodic);

/** Returns the neighbours in a graph: @p sources and @p destinations of each rank. If two ranks share several edges,
 * the n-th edge on one side is the n-th edge on the other. */
std::shared_ptr<const Neighborhood> graph_neighborhood(const std::vector<std::vector<int>>& sources,
                                                       const std::vector<std::vector<int>>& destinations,
                                                       bool undirected);

} // namespace weft
