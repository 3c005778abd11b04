// SPDX-License-Identifier: LGPL-2.1-only
/* A block of data cut into chunks, and the bitmap of those that a receiver has (Khalilov et al., SC '24, section
 * III-C). */
#pragma once

#include <cstdint>
#include <vector>

namespace weft {

/** Chunks first, …, first + count - 1 of a block: their sequence numbers. */
struct ChunkRun {
  std::int64_t first = 0;
  std::int64_t count = 0;

  bool operator==(const ChunkRun& other) const = default;
};

std::int64_t count_chunks(const std::vector<ChunkRun>& runs);

/** What @p runs, which rise and do not touch, leave of @p run. */
std::vector<ChunkRun> without(ChunkRun run, const std::vector<ChunkRun>& runs);
/** Chunks in any order, each as often as one likes, as runs that rise and do not touch. */
std::vector<ChunkRun> runs_of(std::vector<std::int64_t> chunks);

class ChunkBitmap {
  std::int64_t chunks_;
  std::int64_t missing_;
  std::vector<bool> received_;

public:
  explicit ChunkBitmap(std::int64_t chunks);
  /** Mark chunks, in any order and as often as one likes. Returns those that were not there before. */
  std::vector<ChunkRun> add(ChunkRun run);
  std::vector<ChunkRun> missing() const;
  std::int64_t missing_count() const { return missing_; }
};

} // namespace weft
