// SPDX-License-Identifier: LGPL-2.1-only
#include "network/event_heap.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace weft {
namespace {

TEST(EventHeapTest, KeepsTheEarliestItemOnTop)
{
  std::mt19937 random(1);
  const auto below = [&](unsigned most) { return static_cast<unsigned>(random() % most); };
  EventHeap heap;
  std::map<EventHeap::Item, double> times;
  for (int change = 0; change < 20000; ++change) {
    const EventHeap::Item item = below(50);
    if (below(3) == 0) {
      heap.remove(item);
      times.erase(item);
    } else {
      times[item] = below(100);
      heap.set(item, times[item]);
    }
    ASSERT_EQ(heap.empty(), times.empty());
    if (times.empty())
      continue;
    const auto earlier = [](const auto& one, const auto& other) { return one.second < other.second; };
    ASSERT_EQ(heap.next(), std::ranges::min_element(times, earlier)->second);
    ASSERT_EQ(times.at(heap.top()), heap.next());
  }
}

} // namespace
} // namespace weft
