// SPDX-License-Identifier: LGPL-2.1-only
#include "network/link_losses.hpp"

#include <array>
#include <gtest/gtest.h>

namespace weft {
namespace {

constexpr std::array WAY{3, 5};

TEST(LinkLosses, LinksLosePacketsIndependently)
{
  LinkLosses losses;
  EXPECT_FALSE(losses.any());
  losses.set(3, 0.1);
  losses.set(4, 0.9); // not on the route
  losses.set(5, 0.2);
  EXPECT_DOUBLE_EQ(losses.lost(WAY), 1 - 0.9 * 0.8);
  EXPECT_DOUBLE_EQ(losses.effort(WAY), 1 / (0.9 * 0.8)); // selective repeat
  losses.set(5, 0);
  EXPECT_DOUBLE_EQ(losses.lost(WAY), 0.1);
}

/** Returns the packets that a go-back-N sender puts on a link until @p wanted have arrived in order, simulated packet
 * by packet. The sender detects a loss after @p window further packets. */
double packets_sent(LinkLosses& draws, double probability, int window, int wanted)
{
  int arrived = 0;
  int sent    = 0;
  while (arrived < wanted) {
    ++sent;
    if (draws.draw() >= probability)
      ++arrived;
    else
      sent += window; // they arrive out of order and are discarded
  }
  return sent;
}

TEST(LinkLosses, EffortIsThatOfAWalkOfPackets)
{
  constexpr double PROBABILITY = 0.05;
  constexpr int WINDOW         = 7;
  constexpr int PACKETS        = 200000;
  LinkLosses losses({Bytes(100), Bytes(100 * WINDOW), 7});
  losses.set(5, PROBABILITY);
  const double walk = packets_sent(losses, PROBABILITY, WINDOW, PACKETS) / PACKETS;
  EXPECT_NEAR(losses.effort(WAY), walk, 0.01 * walk);
}

TEST(LinkLosses, ASeedDeterminesTheDraws)
{
  LinkLosses one({Bytes(1), Bytes(), 2});
  LinkLosses other({Bytes(1), Bytes(), 2});
  LinkLosses third({Bytes(1), Bytes(), 3});
  const double first = one.draw();
  EXPECT_EQ(first, other.draw());
  EXPECT_NE(first, one.draw());
  EXPECT_NE(first, third.draw());
}

} // namespace
} // namespace weft
