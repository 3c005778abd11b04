// SPDX-License-Identifier: LGPL-2.1-only
/* Chunks of a block, and the bitmap of received chunks (Khalilov et al., SC '24, section III-C). */
#pragma once

#include <cstdint>
#include <vector>

namespace weft {

/** Range of chunks of a block: sequence numbers first, …, first + count - 1. */
struct ChunkRun {
  std::int64_t first = 0;
  std::int64_t count = 0;

  bool operator==(const ChunkRun& other) const = default;
};

std::int64_t count_chunks(const std::vector<ChunkRun>& runs);

/** Returns @p run without @p runs, which must be increasing and disjoint, with gaps in between. */
std::vector<ChunkRun> without(ChunkRun run, const std::vector<ChunkRun>& runs);
/** Returns the runs of @p chunks, which may be unordered and have duplicates. */
std::vector<ChunkRun> runs_of(std::vector<std::int64_t> chunks);

class ChunkBitmap {
  std::int64_t chunks_;
  std::int64_t missing_;
  std::vector<bool> received_;

public:
  explicit ChunkBitmap(std::int64_t chunks);
  /** Marks chunks as received and returns those that are new. */
  std::vector<ChunkRun> add(ChunkRun run);
  std::vector<ChunkRun> missing() const;
  std::int64_t missing_count() const { return missing_; }
};

} // namespace weft
