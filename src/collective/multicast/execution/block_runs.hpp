// SPDX-License-Identifier: LGPL-2.1-only
/* Chunks of several blocks. */
#pragma once

#include "collective/multicast/chunks.hpp"

#include <cstdint>
#include <vector>

namespace weft {

/** Run of chunks of a block. */
struct BlockRun {
  int block = 0;
  ChunkRun chunks;
};

std::int64_t count_chunks(const std::vector<BlockRun>& runs);

/** Returns the chunks that remain when blocks arrive together, chunk by chunk in turn, and the
 *  chunks with numbers @p lost in that order are lost. */
std::vector<BlockRun> interleaved_without(const std::vector<BlockRun>& runs, const std::vector<std::int64_t>& lost);

} // namespace weft
