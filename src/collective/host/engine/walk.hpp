// SPDX-License-Identifier: LGPL-2.1-only
/* A collective's messages in their order, where each takes one round: for tests, tables and pictures.
 *
 * A rank sends one message in a round and receives as many as come. Computing takes no time. */
#pragma once

#include "collective/host/engine/host_call.hpp"

#include <functional>
#include <vector>

namespace weft {

struct WalkedMessage {
  int from;
  int to;
  Bytes bytes;
  int round; ///< in which it is sent, from 0
};

struct Walk {
  std::vector<WalkedMessage> messages; ///< by round, sender, and the order of its sends
  int rounds = 0;
  std::vector<int> ended;  ///< by rank: the round after which its part has ended; -1 where it waits for ever
  std::vector<Bytes> sums; ///< by rank: what it combines in all
};

/** Carries out the schedules that @p schedule makes for @p ranks ranks. Throws std::logic_error where a rank sends to
 *  itself or to nobody, where a message is not as long as its receive, or where one is never received. */
Walk walk(int ranks, const std::function<Schedule(int rank)>& schedule);

} // namespace weft
