// SPDX-License-Identifier: LGPL-2.1-only
/* OS noise on the ranks' cores, in simulated time. Each rank has a core of its own; without noise
 * in the fabric, work takes its nominal time. */
#pragma once

#include "binding/platform/network.hpp"
#include "binding/ranks/actor_map.hpp"
#include "fabric/fabric.hpp"
#include "model/noise/detours.hpp"

#include <simgrid/s4u.hpp>

#include <optional>

namespace weft {

class CoreNoise {
  const NoiseModel* noise_; // null without noise on cores
  const Network& network_;
  ActorMap<std::optional<Detours>> cores_;

public:
  CoreNoise(const Fabric& fabric, const Network& network);

  bool any() const { return noise_ != nullptr; }
  /** Returns the time that @p work takes for the rank with actor id @p rank on @p host if it
   * begins at @p start, which must not be in the past. */
  Seconds with_os_noise(aid_t rank, VertexId host, Seconds start, Seconds work);
  /** Returns the time that @p work takes for the calling rank if it begins now. */
  Seconds with_os_noise(Seconds work);
  /** Puts the calling rank to sleep for the time that noise adds to @p work; the work itself is
   * accounted for elsewhere. */
  void pay(Seconds work);
};

} // namespace weft
