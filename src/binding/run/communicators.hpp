// SPDX-License-Identifier: LGPL-2.1-only
/* The communicators of a run.
 *
 * They are known by world and number: SimGrid can run several MPI programs at once, each with an MPI_COMM_WORLD of its
 * own, and gives all of those the number -1. SMPI tells the programs' ranks apart by a property of their actors,
 * "instance_id".
 */
#pragma once

#include "binding/platform/network.hpp"
#include "binding/ranks/by_actor.hpp"
#include "binding/run/communicator.hpp"
#include "fabric/fabric.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weft {

/** The MPI programs of a run, numbered as they make their first calls. */
class Worlds {
  std::map<std::string, int, std::less<>> numbers_; // by name
  struct Known {
    int world = -1; // not known yet
  };
  ByActor<Known> of_actor_;

public:
  /** The one that an actor, a rank, belongs to. */
  int of(const simgrid::s4u::Actor& rank);
};

class Communicators {
  const Network& network_;
  const bool combine_; // the ranks of a host speak as one
  Worlds worlds_;
  std::map<CommunicatorKey, std::shared_ptr<Communicator>> all_;
  int described_     = 0; // until now
  int attribute_key_ = MPI_KEYVAL_INVALID;

  std::shared_ptr<Communicator> describe(MPI_Comm comm, CommunicatorKey key);
  void attach(MPI_Comm comm, int rank, Communicator& communicator);
  void release(Communicator& communicator);

public:
  /** @p network must outlive it. */
  Communicators(const Fabric& fabric, const Network& network);

  /** The state of a communicator of more than one rank; to be asked by its rank @p rank. */
  const std::shared_ptr<Communicator>& find(MPI_Comm comm, int rank);
  /** Where all ranks have freed it and no call is in flight on it, what it has taken is given back. */
  void release_if_done(Communicator& communicator);
  /** By key. */
  const std::map<CommunicatorKey, std::shared_ptr<Communicator>>& all() const { return all_; }
};

} // namespace weft
