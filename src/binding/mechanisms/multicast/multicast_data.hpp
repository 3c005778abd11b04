// SPDX-License-Identifier: LGPL-2.1-only
/* Data of one call of the multicast protocol.
 *
 * A rank that receives contiguous elements gets them chunk by chunk, as the protocol delivers
 * them, from the root's data or from its neighbour's buffer. Other ranks, whose elements have
 * gaps, get them whole, as in other offloaded calls.
 */
#pragma once

#include "binding/data/exchange.hpp"
#include "collective/multicast/execution/call.hpp"
#include "model/collective/movement.hpp"

#include <cstddef>
#include <vector>

namespace weft {

class MulticastData {
  struct Rank {
    std::byte* receive = nullptr;          // buffer of the first block; null: the rank stores nothing here
    std::vector<std::ptrdiff_t> positions; // positions of the blocks, in bytes
  };
  const MulticastCall& call_;
  const Exchange& exchange_;
  const bool each_gives_; // each rank sends its own part
  std::vector<Rank> ranks_;

  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const Rank& at(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  std::byte* place(int rank, int block) const
  {
    return at(rank).receive + at(rank).positions[static_cast<std::size_t>(block)];
  }
  void find_places(int rank, const RankBuffers& buffers);

public:
  /** @p call and @p exchange must outlive this object. */
  MulticastData(const MulticastCall& call, const Exchange& exchange, const Movement& movement);

  /** Called when rank @p rank has given its data to the exchange. */
  void given(int rank, const RankBuffers& buffers);
  /** True if @p rank gets its data chunk by chunk. */
  bool stores(int rank) const { return at(rank).receive != nullptr; }
  /** Copies chunks into the buffer of @p rank, from rank @p from, which has all of them. */
  void store(int rank, int block, ChunkRun run, int from);
};

} // namespace weft
