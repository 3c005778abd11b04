// SPDX-License-Identifier: LGPL-2.1-only
/* Counters of the work of a network of packets. */
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft {

struct PacketWork {
  std::uint64_t messages      = 0;
  std::uint64_t packets       = 0; ///< of data, with those sent again
  std::uint64_t hops          = 0; ///< links that packets of any kind have crossed
  std::uint64_t events        = 0;
  std::uint64_t dropped       = 0; ///< at full queues
  std::uint64_t trimmed       = 0; ///< at full queues
  std::uint64_t lost          = 0; ///< of any kind, through faults
  std::uint64_t overtaken     = 0; ///< that arrived after a later one of the same message
  std::uint64_t sent_again    = 0;
  std::uint64_t timeouts      = 0;
  std::uint64_t marked        = 0;
  std::uint64_t notifications = 0;
  std::uint64_t pauses        = 0;
  double paused_s             = 0; ///< time that links were paused, over all of them
  double most_queued          = 0; ///< bytes in the fullest output queue
  double most_buffered        = 0; ///< bytes of the fullest input port, with PFC
  std::size_t most_packets    = 0; ///< in flight at a time
};

} // namespace weft
