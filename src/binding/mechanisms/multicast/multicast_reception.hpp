// SPDX-License-Identifier: LGPL-2.1-only
/* What the receivers' progress engines make of what one multicast call brings them: chunks wait in staging rings for
 * workers, and those for which there is no room get lost. */
#pragma once

#include "binding/mechanisms/multicast/multicast_call.hpp"
#include "model/nic/staging_ring.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace weft {

class MulticastReception {
  const Fabric& fabric_;
  std::map<VertexId, int>& receiving_workers_; // by host
  const MulticastCall& call_;
  std::vector<StagingRing> rings_; // by rank; none where no host has a progress engine
  std::vector<bool> busy_;         // by rank: its workers are at work

  VertexId host(int rank) const { return call_.communicator->rank_hosts[static_cast<std::size_t>(rank)]; }
  const ProgressEngine* engine(int rank) const { return fabric_.progress_engine(host(rank)); }
  int workers(const ProgressEngine& engine) const { return engine.workers_of(call_.model.trees); }
  Hertz rate(const ProgressEngine& engine, int busy) const
  {
    return engine.received_chunks(call_.model.transport, call_.model.chunk, call_.model.trees, busy);
  }

public:
  /** All must outlive it. */
  MulticastReception(const Fabric& fabric, MulticastRun& run, const MulticastCall& call);
  MulticastReception(const MulticastReception&)            = delete;
  MulticastReception& operator=(const MulticastReception&) = delete;
  ~MulticastReception();

  /** A rank's workers begin to poll for chunks, or have no more to wait for. */
  void begin(int rank);
  void end(int rank);

  struct Processed {
    double time = 0;                ///< when the data of the last chunk are in the user's buffer, s
    std::vector<std::int64_t> lost; ///< which of the chunks found no room, by their order
  };
  /** Chunks have come to a rank; of more such calls, in the order of their ends. @p going: as of StagingRing::take().
   */
  Processed process(int rank, const StagingRing::Arrival& arrival, std::span<const double> going);

  /** Whether a rank's workers have not begun to process yet, when chunks have begun to come at the times @p coming. */
  bool sleeps(int rank, double time, std::span<const double> coming) const
  {
    return not rings_.empty() && rings_[static_cast<std::size_t>(rank)].sleeps(time, coming);
  }
  /** In which a rank's workers send a block. */
  BytesPerSecond send_rate(int rank) const;
};

} // namespace weft
