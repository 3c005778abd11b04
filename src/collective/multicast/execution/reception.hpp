// SPDX-License-Identifier: LGPL-2.1-only
/* Receivers' progress engines in one multicast call: chunks wait in staging rings for workers, and
 * those that find no room are lost. */
#pragma once

#include "collective/multicast/execution/call.hpp"
#include "collective/multicast/execution/engine_use.hpp"
#include "model/nic/staging_ring.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace weft {

class MulticastReception {
  const Fabric& fabric_;
  EngineUse& engines_;
  const MulticastCall& call_;
  std::vector<StagingRing> rings_; // by rank; empty if no host has a progress engine
  std::vector<bool> busy_;         // by rank: its workers are polling

  const ProgressEngine* engine(int rank) const { return fabric_.progress_engine(call_.host(rank)); }
  int workers(const ProgressEngine& engine) const { return engine.workers_of(call_.model.trees); }
  Hertz rate(const ProgressEngine& engine, int busy) const
  {
    return engine.received_chunks(call_.model.transport, call_.model.chunk, call_.model.trees, busy);
  }

public:
  /** All arguments must outlive this object. */
  MulticastReception(const Fabric& fabric, EngineUse& engines, const MulticastCall& call);
  MulticastReception(const MulticastReception&)            = delete;
  MulticastReception& operator=(const MulticastReception&) = delete;
  ~MulticastReception();

  /** A rank's workers start to poll for chunks (begin), or have nothing left to wait for (end). */
  void begin(int rank);
  void end(int rank);

  struct Processed {
    double time = 0;                ///< at which the last chunk's data are in the user's buffer, s
    std::vector<std::int64_t> lost; ///< positions of the chunks that found no room
  };
  /** Processes chunks that have arrived at a rank; call it in the order in which arrivals end.
   *  @p going: as in StagingRing::take(). */
  Processed process(int rank, const StagingRing::Arrival& arrival, std::span<const double> going);

  /** True if a rank's workers have not begun to process yet; chunks began to arrive at the times @p coming. */
  bool sleeps(int rank, double time, std::span<const double> coming) const
  {
    return not rings_.empty() && rings_[static_cast<std::size_t>(rank)].sleeps(time, coming);
  }
  /** Rate at which a rank's workers send a block; infinite without a progress engine. */
  BytesPerSecond send_rate(int rank) const;
};

} // namespace weft
