// SPDX-License-Identifier: LGPL-2.1-only
/* The detours of the ranks' cores, in SimGrid's time. Each rank has a core of its own; where a fabric has no noise, all
 * work takes the time that it is. */
#pragma once

#include "binding/platform/network.hpp"
#include "binding/ranks/actor_map.hpp"
#include "fabric/fabric.hpp"
#include "model/noise/detours.hpp"

#include <simgrid/s4u.hpp>

#include <optional>

namespace weft {

class CoreNoise {
  const NoiseModel* noise_; // null where cores have no detours
  const Network& network_;
  ActorMap<std::optional<Detours>> cores_;

public:
  CoreNoise(const Fabric& fabric, const Network& network);

  bool any() const { return noise_ != nullptr; }
  /** How long @p work takes that the rank which is actor @p rank, on host @p host, begins at @p start: now or later. */
  Seconds with_os_noise(aid_t rank, VertexId host, Seconds start, Seconds work);
  /** The same of the rank that asks, which begins now. */
  Seconds with_os_noise(Seconds work);
  /** The rank that asks sleeps for what detours add to @p work, which somebody else accounts for. */
  void pay(Seconds work);
};

} // namespace weft
