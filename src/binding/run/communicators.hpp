// SPDX-License-Identifier: LGPL-2.1-only
/* Communicators of a run, keyed by world and number: each job has its own MPI_COMM_WORLD, and SMPI gives all of them
 * the number -1. */
#pragma once

#include "binding/jobs/jobs.hpp"
#include "binding/platform/network.hpp"
#include "binding/run/communicator.hpp"
#include "fabric/fabric.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weft {

/** Communicators that have been used by a collective, until all their ranks have freed them. */
class Communicators {
  const Network& network_;
  const bool combine_; // true if each host contributes once for all of its ranks
  Jobs& jobs_;
  const HostModel& host_;
  std::map<CommunicatorKey, std::shared_ptr<Communicator>> all_;
  /// By job and spawned world, and by actor, if the fabric has sockets.
  std::map<std::pair<int, int>, std::map<aid_t, int>> sockets_;
  int described_     = 0; // number of communicators described so far
  int attribute_key_ = MPI_KEYVAL_INVALID;

  CommunicatorKey key_of(MPI_Comm comm);
  std::shared_ptr<Communicator> describe(MPI_Comm comm, CommunicatorKey key);
  void find_sockets(Communicator& communicator);
  void attach(MPI_Comm comm, int rank, Communicator& communicator);
  void release(Communicator& communicator);

public:
  /** Both @p network and @p jobs must outlive the object. */
  Communicators(const Fabric& fabric, const Network& network, Jobs& jobs);

  /** Returns the state of a communicator of more than one rank; called by its rank @p rank. */
  const std::shared_ptr<Communicator>& find(MPI_Comm comm, int rank);
  /** Releases the communicator if all ranks have freed it and no call is in flight on it. */
  void release_if_done(Communicator& communicator);
  /** Releases the network resources held by the communicators of a failed job. */
  void release_world(int world);
  /** Returns all communicators by key. */
  const std::map<CommunicatorKey, std::shared_ptr<Communicator>>& all() const { return all_; }
};

} // namespace weft
