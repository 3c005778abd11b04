// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/execution/block_runs.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

using Runs = std::vector<std::pair<int, ChunkRun>>;

Runs left(const std::vector<BlockRun>& runs, const std::vector<std::int64_t>& lost)
{
  Runs all;
  for (const BlockRun& run : interleaved_without(runs, lost))
    all.emplace_back(run.block, run.chunks);
  return all;
}

TEST(BlockRuns, AreCountedOverBlocks)
{
  EXPECT_EQ(count_chunks(std::vector<BlockRun>{}), 0);
  EXPECT_EQ(count_chunks({{0, {3, 4}}, {5, {0, 2}}, {0, {9, 1}}}), 7);
}

TEST(BlockRuns, BlocksThatArriveTogetherTakeTurns)
{
  // 0.0, 1.0, 0.1, 1.1, …
  EXPECT_EQ(left({{0, {0, 3}}, {1, {0, 3}}}, {0, 3, 4}), (Runs{{0, {1, 1}}, {1, {0, 1}}, {1, {2, 1}}}));
}

TEST(BlockRuns, TheLongerBlockHasMoreChunksInATurn)
{
  // Block 1 has two chunks while block 0 has one: 1.0, 0.0, 1.1, 1.2, 0.1, 1.3.
  EXPECT_EQ(left({{0, {0, 2}}, {1, {0, 4}}}, {1, 4}), (Runs{{1, {0, 4}}}));
  EXPECT_EQ(left({{0, {0, 2}}, {1, {0, 4}}}, {0, 2, 3, 5}), (Runs{{0, {0, 2}}}));
}

TEST(BlockRuns, ChunksThatWereLostBeforeHaveNoTurn)
{
  EXPECT_EQ(left({{0, {1, 1}}, {0, {6, 2}}}, {1}), (Runs{{0, {1, 1}}, {0, {7, 1}}}));
}

} // namespace
} // namespace weft
