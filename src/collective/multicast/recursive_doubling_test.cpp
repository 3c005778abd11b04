// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/recursive_doubling.hpp"

#include <set>
#include <tuple>

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(RecursiveDoubling, EveryMessageIsExpectedByItsReceiver)
{
  for (int ranks = 1; ranks <= 70; ++ranks) {
    std::set<std::tuple<int, int, int>> sent;
    std::set<std::tuple<int, int, int>> expected;
    for (int rank = 0; rank < ranks; ++rank)
      for (const BarrierStep& step : recursive_doubling(rank, ranks)) {
        EXPECT_TRUE(not step.sends || sent.emplace(step.round, rank, step.peer).second);
        EXPECT_TRUE(not step.expects || expected.emplace(step.round, step.peer, rank).second);
      }
    EXPECT_EQ(sent, expected) << ranks;
  }
}

TEST(RecursiveDoubling, NoRankEndsBeforeItHasHeardFromAll)
{
  for (int ranks = 1; ranks <= 70; ++ranks) {
    std::vector<std::vector<BarrierStep>> steps;
    std::vector<std::set<int>> known;
    std::vector<std::size_t> at(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
      steps.push_back(recursive_doubling(rank, ranks));
      known.push_back({rank});
    }
    std::set<std::tuple<int, int>> delivered; // round, receiver
    std::set<std::tuple<int, int>> sent;      // round, sender
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < at.size(); ++rank) {
        if (at[rank] == steps[rank].size())
          continue;
        const BarrierStep& step = steps[rank][at[rank]];
        if (step.sends && sent.emplace(step.round, rank).second) {
          known[static_cast<std::size_t>(step.peer)].insert(known[rank].begin(), known[rank].end());
          delivered.emplace(step.round, step.peer);
        }
        if (not step.expects || delivered.contains({step.round, static_cast<int>(rank)})) {
          ++at[rank];
          moved = true;
        }
      }
    }
    for (std::size_t rank = 0; rank < at.size(); ++rank) {
      EXPECT_EQ(at[rank], steps[rank].size()) << rank << " of " << ranks;
      EXPECT_EQ(known[rank].size(), at.size()) << rank << " of " << ranks;
    }
  }
}

} // namespace
} // namespace weft
