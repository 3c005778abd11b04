// SPDX-License-Identifier: LGPL-2.1-only
#include "packets/packet_events.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace weft {
namespace {

TEST(PacketEvents, ComeInOrderOfTimeThenOfAddition)
{
  std::mt19937 random(1);
  PacketEvents events;
  struct Added {
    double time;
    std::uint32_t index;
  };
  std::vector<Added> left;
  double now           = 0;
  std::uint32_t number = 0;
  const auto add       = [&](PacketEvents::Lane lane, double time) {
    events.add(lane, time, PacketEvent::arrival, number);
    left.push_back({time, number++});
  };
  for (int turn = 0; turn < 20000; ++turn) {
    // Delays of lanes come in order, others do not; some are equal.
    const double delay = 1 + static_cast<double>(random() % 3);
    add(events.lane(delay, 0), now + delay);
    if (random() % 4 == 0)
      add(PacketEvents::NO_LANE, now + static_cast<double>(random() % 8));
    if (random() % 8 == 0)
      add(events.lane(1, 0), now); // out of order in its lane
    while (not left.empty() && random() % 3 > 0) {
      const auto first =
          std::ranges::min_element(left, {}, [](const Added& one) { return std::pair(one.time, one.index); });
      ASSERT_EQ(events.next(), first->time);
      const PacketEvents::Entry entry = events.take();
      ASSERT_EQ(entry.index(), first->index);
      ASSERT_EQ(entry.kind(), PacketEvent::arrival);
      now = entry.time;
      left.erase(first);
    }
  }
}

TEST(PacketEvents, MoreDelaysThanLanesGoToTheHeap)
{
  PacketEvents events;
  for (int delay = 0; delay < PacketEvents::NO_LANE; ++delay)
    EXPECT_EQ(events.lane(delay, 0), delay);
  EXPECT_EQ(events.lane(3, 0), 3);
  EXPECT_EQ(events.lane(100, 0), PacketEvents::NO_LANE);
  EXPECT_EQ(events.lane(3, 1), PacketEvents::NO_LANE);
}

} // namespace
} // namespace weft
