// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/chunks.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

using Runs = std::vector<ChunkRun>;

TEST(Chunks, WithoutReturnsTheDifference)
{
  EXPECT_EQ(without({0, 3}, {}), (Runs{{0, 3}}));
  EXPECT_EQ(without({0, 3}, {{0, 3}}), Runs());
  EXPECT_EQ(without({0, 8}, {{1, 2}, {5, 1}}), (Runs{{0, 1}, {3, 2}, {6, 2}}));
  EXPECT_EQ(without({2, 4}, {{0, 1}, {1, 2}, {5, 9}, {20, 1}}), (Runs{{3, 2}}));
}

TEST(Chunks, RunsOfUnorderedChunks)
{
  EXPECT_EQ(runs_of({}), Runs());
  EXPECT_EQ(runs_of({5, 1, 2, 1, 4}), (Runs{{1, 2}, {4, 2}}));
}

TEST(ChunkBitmap, ReportsNewAndMissingChunks)
{
  ChunkBitmap bitmap(8);
  EXPECT_EQ(bitmap.add({5, 2}), (Runs{{5, 2}}));
  EXPECT_EQ(bitmap.add({4, 4}), (Runs{{4, 1}, {7, 1}}));
  EXPECT_EQ(bitmap.add({4, 4}), Runs());
  EXPECT_EQ(bitmap.missing(), (Runs{{0, 4}}));
  EXPECT_EQ(bitmap.missing_count(), 4);
  bitmap.add({0, 8});
  EXPECT_EQ(bitmap.missing(), Runs());
  EXPECT_EQ(bitmap.missing_count(), 0);
}

TEST(ChunkBitmap, RefusesChunksBeyondTheBlock)
{
  ChunkBitmap bitmap(8);
  EXPECT_THROW(bitmap.add({7, 2}), std::logic_error);
  EXPECT_THROW(bitmap.add({-1, 1}), std::logic_error);
}

} // namespace
} // namespace weft
