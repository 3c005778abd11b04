// SPDX-License-Identifier: LGPL-2.1-only
/* Overheads and thresholds of messages between the ranks of an MPI library. */
#pragma once

#include "base/units.hpp"
#include "model/host/host_model.hpp"
#include "model/host/mpi_model.hpp"

#include <functional>
#include <limits>
#include <optional>

namespace weft {

/** Properties of a send. */
struct SendMode {
  bool detached = false; ///< the send completes immediately; otherwise when its message arrives
  bool eager    = false; ///< the message leaves immediately; otherwise once a receive is posted for it
};

/** Costs and protocol thresholds of messages between ranks. */
struct MessageCosts {
  Bytes detached_below; ///< smaller messages do not block their sender
  Bytes eager_below;    ///< smaller messages leave before the receive is posted
  /// CPU time of a message from host @p from to host @p to, at its sender or its receiver.
  using Time = std::function<Seconds(Bytes size, int from, int to)>;
  Time blocking_send;
  Time send; ///< non-blocking send
  Time receive;
  BytesPerSecond reduction_rate{
      std::numeric_limits<double>::infinity()}; ///< rate at which a rank combines or copies vectors
  Seconds piece_overhead;                       ///< CPU time per contiguous piece of a non-contiguous message
  HostModel host;                               ///< caches, and the cost of missing them
  Seconds reduction_overhead;                   ///< CPU time before each combination of vectors

  /** Returns the mode of a standard send of this size. */
  SendMode mode(Bytes size) const { return {size < detached_below, size < eager_below}; }
};

/** Returns the costs described by the tables [mpi] and [host]. Without [mpi], SMPI's defaults: small sends do not
 * block, and no message leaves before both sides have posted it. */
MessageCosts costs_of(const std::optional<MpiModel>& mpi, const HostModel& host);

} // namespace weft
