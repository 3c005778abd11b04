// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/engine/frames.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace weft {
namespace {

TEST(Frames, AreAlignedAndDisjoint)
{
  Frames frames;
  std::vector<std::pair<char*, std::size_t>> all;
  for (std::size_t bytes = 1; bytes < 6000; bytes += 37) {
    all.emplace_back(static_cast<char*>(frames.allocate(bytes)), bytes);
    std::memset(all.back().first, static_cast<int>(all.size() % 100), bytes);
  }
  for (std::size_t index = 0; index < all.size(); ++index) {
    const auto [frame, bytes] = all[index];
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(frame) % alignof(std::max_align_t), 0U);
    EXPECT_EQ(static_cast<std::size_t>(std::count(frame, frame + bytes, static_cast<char>((index + 1) % 100))), bytes);
    frames.deallocate(frame, bytes);
  }
}

TEST(Frames, AreReusedBySize)
{
  Frames frames;
  void* const other = frames.allocate(32);
  void* const first = frames.allocate(600);
  frames.deallocate(first, 600);
  EXPECT_NE(frames.allocate(500), first);
  EXPECT_EQ(frames.allocate(605), first); // rounded to 16 bytes
  frames.deallocate(other, 32);
}

TEST(Frames, ReturnNearlyAllMemoryWhenNoneIsLeft)
{
  Frames frames;
  for (int round = 0; round < 3; ++round) {
    std::vector<void*> all;
    for (int number = 0; number < 60'000; ++number)
      all.push_back(frames.allocate(1024));
    EXPECT_GT(frames.held(), 58 * Frames::SLAB);
    EXPECT_LT(frames.held(), 60 * Frames::SLAB);
    for (void* const frame : all)
      frames.deallocate(frame, 1024);
    EXPECT_EQ(frames.held(), Frames::KEPT * Frames::SLAB);
  }
}

} // namespace
} // namespace weft
