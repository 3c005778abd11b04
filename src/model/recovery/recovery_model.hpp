// SPDX-License-Identifier: LGPL-2.1-only
/* Reaction of routing and senders to faults: times, retries, and counters of what they have done. */
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <string>

namespace weft {

struct RecoveryModel {
  Seconds detection;   ///< from a fault or repair until the switches at both ends of a link notice it
  Seconds convergence; ///< from then until all routes are new
  Seconds timeout;     ///< a sender sends again what has not been acknowledged for so long; more than zero
  int retries    = 0;  ///< after so many timeouts without success, and one more, it gives up
  double backoff = 1;  ///< each further timeout is longer by this factor; at least 1

  /** Returns the length of the timeout that follows so many others. */
  Seconds timeout_after(int others) const;
  /** Returns the time from the start of the first timeout until the end of the last one. */
  Seconds time_of(int timeouts) const;
  /** Describes all timeouts, for messages. */
  std::string timeouts() const;
  /** Returns the message of a sender that gives up at @p now. @p who: "A cannot reach B"; @p obstacle: its cause. */
  std::string give_up_message(const std::string& who, Seconds now, const std::string& obstacle) const;
};

/** Counters of a run with faults: of messages, and of flows of calls that are resumed. */
struct RecoveryCounts {
  std::int64_t cut         = 0; ///< times that one was cut
  std::int64_t lost        = 0; ///< times that one's last packet was lost
  std::int64_t resumed     = 0; ///< times that the rest of one was sent again
  std::int64_t given_up    = 0;
  double waited_s          = 0; ///< from a cut or loss until the rest was sent again, over all of them
  double longest_waiting_s = 0;

  RecoveryCounts& operator+=(const RecoveryCounts& others);
};

} // namespace weft
