// SPDX-License-Identifier: LGPL-2.1-only
/* Actors of a call's ranks, as needed by its schedules: whether a rank is in MPI, if non-blocking calls progress only
 * there (Progress::calls), and the duration of work on its core (CoreNoise). */
#pragma once

#include "binding/messages/host_network.hpp"
#include "binding/run/communicator.hpp"

#include <string>
#include <vector>

namespace weft {

class RankActors {
  HostNetwork& network_;
  const Communicator& communicator_;
  std::vector<aid_t> in_mpi_; // by rank; set if the call progresses only while ranks are in MPI

public:
  RankActors(HostNetwork& network, const Communicator& communicator) : network_(network), communicator_(communicator) {}

  /** The current actor, rank @p rank, enters @p call. */
  void enter(int rank, bool blocks, ProgressedCall& call);
  /** Called when the part of @p rank has ended. */
  void end(int rank, const ProgressedCall& call);
  bool makes_progress(int rank) const;
  Seconds with_os_noise(int rank, Seconds start, Seconds work) const;
  /** Ends the ranks' job, because the algorithm chosen for the hosts cannot execute the call. */
  void refuse(const std::string& why) const { network_.refuse(why, communicator_.world); }
  int socket(int rank) const { return communicator_.socket(rank); }
};

} // namespace weft
