// SPDX-License-Identifier: LGPL-2.1-only
/* The fast memory of a host's progress engine: each rank there keeps a context and the bitmap of a receive buffer for
 * each communicator on which it multicasts (Khalilov et al., SC '24, section III-D). The bitmap is that of its largest
 * call so far. */
#pragma once

#include "model/nic/progress_engine.hpp"

#include <cstdint>
#include <map>

namespace weft {

class EngineMemory {
  struct State {
    std::int64_t chunks = 0; // of the largest receive buffer
    int ranks           = 0;
  };
  std::map<int, State> states_; // by communicator

  static Bytes size(const ProgressEngine& engine, const State& state);
  static State with(State state, std::int64_t chunks, int ranks);

public:
  /** Whether a call of @p chunks chunks by @p ranks ranks of the host has room beside what is there. */
  bool has_room(const ProgressEngine& engine, int communicator, std::int64_t chunks, int ranks) const;
  /** Take it. */
  void take(int communicator, std::int64_t chunks, int ranks);
  /** The communicator is no more. */
  void release(int communicator) { states_.erase(communicator); }
};

} // namespace weft
