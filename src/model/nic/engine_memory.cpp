// SPDX-License-Identifier: LGPL-2.1-only
#include "model/nic/engine_memory.hpp"

#include <algorithm>

namespace weft {

Bytes EngineMemory::size(const ProgressEngine& engine, const State& state)
{
  return (engine.context + bitmap_size(state.chunks)) * static_cast<double>(state.ranks);
}

EngineMemory::State EngineMemory::with(State state, std::int64_t chunks, int ranks)
{
  return {std::max(state.chunks, chunks), std::max(state.ranks, ranks)};
}

bool EngineMemory::has_room(const ProgressEngine& engine, int communicator, std::int64_t chunks, int ranks) const
{
  State its{chunks, ranks};
  Bytes others;
  for (const auto& [number, state] : states_)
    if (number == communicator)
      its = with(state, chunks, ranks);
    else
      others += size(engine, state);
  return others + size(engine, its) <= engine.memory;
}

void EngineMemory::take(int communicator, std::int64_t chunks, int ranks)
{
  State& its = states_[communicator];
  its        = with(its, chunks, ranks);
}

} // namespace weft
