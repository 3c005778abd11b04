// SPDX-License-Identifier: LGPL-2.1-only
#include "model/storage/romio.hpp"

#include <gtest/gtest.h>
#include <random>
#include <set>

namespace weft {
namespace {

RankPart part_on(int host, Extents extents)
{
  RankPart part;
  part.extents = std::move(extents);
  part.host    = host;
  return part;
}

TEST(RomioHints, AcceptsValidValuesOnly)
{
  RomioHints hints;
  hints.set("cb_buffer_size", "1024");
  hints.set("cb_nodes", "none");
  hints.set("romio_cb_write", "disable");
  hints.set("romio_cb_read", "perhaps");
  hints.set("cb_config_list", "*:2");
  hints.set("unknown", "1");
  EXPECT_EQ(hints.buffer, 1024);
  EXPECT_EQ(hints.aggregators, 0);
  EXPECT_EQ(hints.collective_write, HintSwitch::disable);
  EXPECT_EQ(hints.collective_read, HintSwitch::automatic);
  EXPECT_EQ(hints.per_host, 2);
}

TEST(IndependentAccesses, AreOneIfAllIsContiguous)
{
  const auto accesses = independent_accesses({{5, 100'000'000}}, true, true, {});
  ASSERT_EQ(accesses.size(), 1U);
  EXPECT_EQ(accesses[0].extents, (Extents{{5, 100'000'000}}));
  EXPECT_FALSE(accesses[0].read_first);
}

TEST(IndependentAccesses, SieveWithABuffer)
{
  RomioHints hints;
  hints.write_buffer  = 10;
  const auto accesses = independent_accesses({{0, 2}, {4, 8}, {30, 1}}, true, true, hints);
  ASSERT_EQ(accesses.size(), 3U);
  EXPECT_EQ(accesses[0].extents, (Extents{{0, 10}}));
  EXPECT_EQ(accesses[1].extents, (Extents{{10, 10}}));
  EXPECT_EQ(accesses[2].extents, (Extents{{30, 1}}));
  EXPECT_TRUE(accesses[0].read_first);
  hints.sieve_writes = HintSwitch::disable;
  EXPECT_EQ(independent_accesses({{0, 2}, {4, 8}, {30, 1}}, true, true, hints).size(), 3U);
  EXPECT_FALSE(independent_accesses({{0, 2}, {4, 8}}, true, true, hints)[0].read_first);
}

TEST(Interleaving, MeansThatARankBeginsBeforeTheEndOfTheLast)
{
  EXPECT_FALSE(interleave(std::vector{part_on(0, {{0, 4}}), part_on(0, {{4, 4}})}));
  EXPECT_FALSE(interleave(std::vector{part_on(0, {{0, 4}}), part_on(0, {}), part_on(0, {{4, 4}})}));
  EXPECT_TRUE(interleave(std::vector{part_on(0, {{0, 4}, {8, 4}}), part_on(0, {{4, 4}})}));
}

TEST(CollectiveRounds, FollowDomainsAndBuffers)
{
  RomioHints hints;
  hints.buffer = 8;
  // Two hosts with two ranks each; each rank owns every fourth group of four bytes, of 64 in total.
  std::vector<RankPart> ranks;
  for (int rank = 0; rank < 4; ++rank) {
    ranks.push_back(part_on(rank / 2, {}));
    for (int group = 0; group < 4; ++group)
      ranks.back().extents.push_back({(group * 4 + rank) * 4, 4});
  }
  EXPECT_EQ(aggregators_of(ranks, hints), (std::vector{0, 2}));
  const CollectivePlan plan = plan_two_phase(ranks, true, hints);
  const auto& rounds        = plan.rounds;
  ASSERT_EQ(plan.lists.size(), 8U);
  EXPECT_EQ(plan.lists[0].extents, 2);
  ASSERT_EQ(rounds.size(), 4U); // each domain's 32 bytes, 8 per round
  ASSERT_EQ(rounds[0].accesses.size(), 2U);
  EXPECT_EQ(rounds[0].accesses[0].access.extents, (Extents{{0, 8}}));
  EXPECT_EQ(rounds[0].accesses[1].access.extents, (Extents{{32, 8}}));
  EXPECT_FALSE(rounds[0].accesses[0].access.read_first);
  EXPECT_EQ(rounds[0].pieces.size(), 4U);
}

TEST(CollectiveRounds, ReadWhatWritesLeaveOut)
{
  const std::vector ranks{part_on(0, {{0, 4}, {12, 4}}), part_on(0, {{4, 4}})};
  EXPECT_TRUE(plan_two_phase(ranks, true, {}).rounds[0].accesses[0].access.read_first);
  EXPECT_FALSE(plan_two_phase(ranks, false, {}).rounds[0].accesses[0].access.read_first);
}

TEST(CollectiveRounds, EndDomainsAtStripes)
{
  RomioHints hints;
  hints.striping_unit = 10;
  const std::vector ranks{part_on(0, {{0, 14}}), part_on(1, {{14, 14}})};
  const auto rounds = plan_two_phase(ranks, true, hints).rounds;
  ASSERT_EQ(rounds.size(), 1U);
  EXPECT_EQ(rounds[0].accesses[0].access.extents, (Extents{{0, 10}}));
  EXPECT_EQ(rounds[0].accesses[1].access.extents, (Extents{{10, 18}}));
}

TEST(CollectiveRounds, MoveEachByteOnce)
{
  std::mt19937 random(3); // NOLINT(cert-msc32-c,cert-msc51-cpp): the same cases in each run
  const auto any = [&random](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  for (int round = 0; round < 100; ++round) {
    RomioHints hints;
    hints.buffer        = 1 + any(50);
    hints.striping_unit = any(20);
    std::vector<RankPart> ranks;
    std::vector<std::int64_t> expected;
    for (int rank = 0; rank < 1 + any(6); ++rank) {
      ranks.push_back(part_on(any(3), {}));
      for (std::int64_t at = any(40); ranks.back().extents.size() < 5; at += 10 + any(20))
        append(ranks.back().extents, {at, 1 + any(9)});
      expected.push_back(bytes_of(ranks.back().extents));
    }
    std::vector<std::int64_t> moved(ranks.size());
    const CollectivePlan plan = plan_two_phase(ranks, true, hints);
    for (const CollectiveRound& one : plan.rounds) {
      for (const auto& piece : one.pieces)
        moved[static_cast<std::size_t>(piece.rank)] += piece.bytes;
      for (const auto& access : one.accesses)
        EXPECT_LE(access.access.extents.front().length, hints.buffer);
    }
    EXPECT_EQ(moved, expected);
  }
}

} // namespace
} // namespace weft
