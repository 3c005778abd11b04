// SPDX-License-Identifier: LGPL-2.1-only
/* Fast memory of a host's progress engine. Each rank keeps a context and a receive bitmap per communicator on which it
 * multicasts (Khalilov et al., SC '24, section III-D). The bitmap is sized for the largest call so far. */
#pragma once

#include "model/nic/progress_engine.hpp"

#include <cstdint>
#include <map>

namespace weft {

class EngineMemory {
  struct State {
    std::int64_t chunks = 0; // in the largest receive buffer
    int ranks           = 0;
  };
  std::map<int, State> states_; // by communicator

  static Bytes size(const ProgressEngine& engine, const State& state);
  static State with(State state, std::int64_t chunks, int ranks);

public:
  /** Returns true if a call with @p chunks chunks on @p ranks ranks of the host fits into the free memory. */
  bool has_room(const ProgressEngine& engine, int communicator, std::int64_t chunks, int ranks) const;
  /** Allocates the memory of a call, as checked by has_room(). */
  void take(int communicator, std::int64_t chunks, int ranks);
  /** Frees the memory of a communicator. */
  void release(int communicator) { states_.erase(communicator); }
};

} // namespace weft
