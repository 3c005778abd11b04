// SPDX-License-Identifier: LGPL-2.1-only
/* Communicators of a run, by world and number: each job has an MPI_COMM_WORLD of its own, and SMPI gives all of those
 * the number -1. */
#pragma once

#include "binding/platform/network.hpp"
#include "binding/run/communicator.hpp"
#include "binding/run/jobs.hpp"
#include "fabric/fabric.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weft {

/** Every communicator that has made a collective, until all its ranks have freed it. */
class Communicators {
  const Network& network_;
  const bool combine_; // the ranks of a host speak as one
  Jobs& jobs_;
  std::map<CommunicatorKey, std::shared_ptr<Communicator>> all_;
  int described_     = 0; // until now
  int attribute_key_ = MPI_KEYVAL_INVALID;

  std::shared_ptr<Communicator> describe(MPI_Comm comm, CommunicatorKey key);
  void attach(MPI_Comm comm, int rank, Communicator& communicator);
  void release(Communicator& communicator);

public:
  /** @p network and @p jobs must outlive it. */
  Communicators(const Fabric& fabric, const Network& network, Jobs& jobs);

  /** The state of a communicator of more than one rank; to be asked by its rank @p rank. */
  const std::shared_ptr<Communicator>& find(MPI_Comm comm, int rank);
  /** Where all ranks have freed it and no call is in flight on it, what it has taken is given back. */
  void release_if_done(Communicator& communicator);
  /** By key. */
  const std::map<CommunicatorKey, std::shared_ptr<Communicator>>& all() const { return all_; }
};

} // namespace weft
