// SPDX-License-Identifier: LGPL-2.1-only
/* Messages of a collective in rounds, for tests, tables and figures.
 *
 * Each message takes one round. A rank sends one message per round and receives any number. Computation takes no time.
 */
#pragma once

#include "collective/host/engine/host_call.hpp"

#include <functional>
#include <vector>

namespace weft {

struct WalkedMessage {
  int from;
  int to;
  Bytes bytes;
  int round; ///< round in which it is sent, from 0
};

struct Walk {
  std::vector<WalkedMessage> messages; ///< by round, sender, and the order of its sends
  int rounds = 0;
  std::vector<int> ended;  ///< by rank: the round after which it has finished; -1 if it deadlocks
  std::vector<Bytes> sums; ///< by rank: total bytes combined
};

/** Executes the schedules that @p schedule creates for @p ranks ranks. Throws std::logic_error if a rank sends to
 * itself or to an invalid rank, if a message and its receive differ in size, or if a message is never received. */
Walk walk(int ranks, const std::function<Schedule(int rank)>& schedule);

} // namespace weft
