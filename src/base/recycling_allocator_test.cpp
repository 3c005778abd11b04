// SPDX-License-Identifier: LGPL-2.1-only
#include "base/recycling_allocator.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

namespace weft {
namespace {

struct Large {
  int number = 0;
  std::array<char, 300> more{};
};

std::shared_ptr<Large> make(int number)
{
  return std::allocate_shared<Large>(RecyclingAllocator<Large>(), number);
}

TEST(RecyclingAllocator, ReusesTheLastFreedObjectFirst)
{
  const auto other   = make(1);
  auto first         = make(2);
  auto second        = make(3);
  const Large* place = first.get();
  second.reset();
  first.reset();
  const auto next = make(4);
  EXPECT_EQ(next.get(), place);
  EXPECT_EQ(next->number, 4);
  EXPECT_EQ(other->number, 1);
}

TEST(RecyclingAllocator, LiveObjectsDoNotOverlap)
{
  for (int round = 0; round < 2; ++round) { // more objects than the free list keeps
    std::vector<std::shared_ptr<Large>> all;
    all.reserve(1000);
    for (int number = 0; number < 1000; ++number)
      all.push_back(make(number));
    for (int number = 0; number < 1000; ++number)
      EXPECT_EQ(all[static_cast<std::size_t>(number)]->number, number);
  }
}

TEST(RecyclingAllocator, ArraysBypassTheFreeList)
{
  std::vector<Large, RecyclingAllocator<Large>> several(3);
  several.resize(5);
  several[4].number = 7;
  EXPECT_EQ(several[4].number, 7);
}

} // namespace
} // namespace weft
