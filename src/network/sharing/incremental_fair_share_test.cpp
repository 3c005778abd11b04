// SPDX-License-Identifier: LGPL-2.1-only
#include "network/sharing/incremental_fair_share.hpp"

#include "network/sharing/fair_share_test.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace weft {
namespace {

constexpr double NO_BOUND = 1e30;

TEST(IncrementalFairShareTest, GivesAFlowAloneItsRateAtOnce)
{
  IncrementalFairShare share({10, 4});
  const auto narrow = share.add({0, 1}, 1, NO_BOUND, 2);
  EXPECT_EQ(share.rate(narrow), 2);
  EXPECT_TRUE(share.dirty().empty());
}

TEST(IncrementalFairShareTest, GivesAFlowAloneThatUsesAResourceSeveralTimesItsRateAtOnce)
{
  IncrementalFairShare share({12, 10});
  const auto alone = share.add({0, 1, 0, 0}, 1, NO_BOUND, 2);
  EXPECT_EQ(share.rate(alone), 2);
  EXPECT_TRUE(share.dirty().empty());
  const auto other = share.add({1}, 1, NO_BOUND, 1);
  share.update();
  EXPECT_EQ(share.rate(alone), 2);
  EXPECT_EQ(share.rate(other), 6);
  share.remove(alone);
  share.update();
  EXPECT_EQ(share.rate(other), 10);
}

TEST(IncrementalFairShareTest, ReportsOnlyTheFlowsThatChange)
{
  IncrementalFairShare share({10, 10, 10});
  const auto first  = share.add({0}, 1, NO_BOUND, 1);
  const auto second = share.add({0, 1}, 1, 2, 1);
  const auto apart  = share.add({2}, 1, NO_BOUND, 1);
  EXPECT_EQ(share.update().size(), 2U);
  EXPECT_EQ(share.rate(first), 8);
  EXPECT_EQ(share.rate(second), 2);
  const auto third = share.add({1}, 1, NO_BOUND, 1); // takes the remainder of resource 1
  EXPECT_EQ(share.update(), (std::vector<IncrementalFairShare::FlowNumber>{third}));
  EXPECT_EQ(share.rate(third), 8);
  share.remove(second);
  EXPECT_EQ(share.update().size(), 2U);
  EXPECT_EQ(share.rate(first), 10);
  EXPECT_EQ(share.rate(third), 10);
  EXPECT_EQ(share.rate(apart), 10);
}

TEST(IncrementalFairShareTest, ReportsAFlowAloneWithTheNumberOfOneThatHasChanged)
{
  for (const bool all : {false, true}) {
    IncrementalFairShare share({10, 10});
    const auto stays  = share.add({0}, 1, NO_BOUND, 1);
    const auto leaves = share.add({0}, 1, NO_BOUND, 1);
    share.update();
    share.add_copies(leaves, 1);
    share.remove(leaves);
    const auto alone = share.add({1}, 1, NO_BOUND, 1);
    ASSERT_EQ(alone, leaves);
    ASSERT_TRUE(share.has_changed(alone));
    const auto& reported = all ? share.update_all() : share.update();
    EXPECT_NE(std::ranges::find(reported, alone), reported.end());
    EXPECT_EQ(share.rate(alone), 10);
    EXPECT_EQ(share.rate(stays), 10);
  }
}

// Flow r gets the capacity that flow r - 1 leaves on resource r: alternately r + 1, a quarter less and a quarter more.
TEST(IncrementalFairShareTest, FollowsAChainOfBottlenecks)
{
  constexpr int LENGTH = 3000;
  std::vector<double> capacities;
  for (int resource = 0; resource <= LENGTH; ++resource)
    capacities.push_back(2 * resource + 1);
  IncrementalFairShare share(capacities);
  for (int flow = 0; flow < LENGTH; ++flow)
    share.add({flow, flow + 1}, 1, NO_BOUND, 1);
  share.update();
  const auto extra = share.add({0}, 1, 0.25, 1);
  share.update();
  for (int flow = 0; flow < LENGTH; ++flow)
    ASSERT_EQ(share.rate(static_cast<IncrementalFairShare::FlowNumber>(flow)),
              flow + 1 + (flow % 2 == 0 ? -0.25 : 0.25));
  share.remove(extra);
  EXPECT_EQ(share.update().size(), static_cast<std::size_t>(LENGTH));
  for (int flow = 0; flow < LENGTH; ++flow)
    ASSERT_EQ(share.rate(static_cast<IncrementalFairShare::FlowNumber>(flow)), flow + 1);
}

TEST(IncrementalFairShareTest, FollowsCapacitiesAndCopies)
{
  IncrementalFairShare share({10});
  const auto one   = share.add({0}, 1, NO_BOUND, 1);
  const auto other = share.add({0}, 1, NO_BOUND, 1);
  share.update();
  share.set_capacity(0, 6);
  share.update();
  EXPECT_EQ(share.rate(one), 3);
  share.add_copies(other, 1);
  share.update();
  EXPECT_EQ(share.rate(one), 2);
  EXPECT_EQ(share.rate(other), 2);
}

/** Random network in which flows join and leave, several at a time; compared with the full solve after each update. */
class RandomNetwork {
  std::mt19937 random_;
  bool few_; // few distinct values, so that levels tie
  std::vector<double> capacities_;
  IncrementalFairShare share_;
  struct Flow {
    IncrementalFairShare::FlowNumber number;
    SharingFlow sharing;
  };
  std::vector<Flow> there_;

  int below(int most) { return static_cast<int>(random_() % static_cast<unsigned>(most)); }
  double value(int most) { return few_ ? 1 + below(most) : 1 + most * std::uniform_real_distribution<>()(random_); }
  std::vector<double> draw_capacities()
  {
    std::vector<double> all(1 + static_cast<std::size_t>(below(below(4) == 0 ? 60 : 10)));
    std::ranges::generate(all, [&] { return value(20); });
    return all;
  }
  void join()
  {
    SharingFlow flow;
    flow.weight = 1 / value(4);
    flow.bound  = below(2) == 0 ? NO_BOUND : 0.5 * value(10);
    flow.copies = 1.0 + below(3);
    for (int uses = 1 + below(4); uses > 0; --uses)
      flow.resources.push_back(below(static_cast<int>(capacities_.size())));
    const auto number = share_.add(flow.resources, flow.weight, flow.bound, flow.copies);
    there_.push_back({number, flow});
  }
  void leave(std::size_t position)
  {
    share_.remove(there_[position].number);
    there_[position] = there_.back();
    there_.pop_back();
  }
  void change()
  {
    const int what = below(16);
    if (what == 0) {
      const int resource = below(static_cast<int>(capacities_.size()));
      share_.set_capacity(resource, capacities_[static_cast<std::size_t>(resource)] = value(20));
    } else if (what == 1 && not there_.empty()) {
      Flow& flow = there_[random_() % there_.size()];
      share_.add_copies(flow.number, 1);
      flow.sharing.copies += 1;
    } else if (what < 9 && not there_.empty()) {
      leave(random_() % there_.size());
    } else {
      join();
    }
  }
  std::vector<double> rates() const
  {
    std::vector<double> all;
    for (const Flow& flow : there_)
      all.push_back(share_.rate(flow.number));
    return all;
  }

public:
  explicit RandomNetwork(unsigned seed)
      : random_(seed), few_(seed % 2 == 0), capacities_(draw_capacities()), share_(capacities_)
  {
    for (int flows = below(2 * static_cast<int>(capacities_.size())); flows > 0; --flows)
      join();
  }

  void change_and_compare()
  {
    constexpr double PRECISION = 1e-12;
    for (int changes = 1 + below(below(8) == 0 ? 60 : 2); changes > 0; --changes)
      change();
    const std::vector<double> before = rates();
    std::vector<IncrementalFairShare::FlowNumber> waiting;
    for (const Flow& flow : there_)
      if (share_.has_changed(flow.number))
        waiting.push_back(flow.number);
    const auto& reported            = below(4) == 0 ? share_.update_all() : share_.update();
    const std::vector<double> after = rates();
    std::vector<SharingFlow*> flows;
    for (Flow& flow : there_)
      flows.push_back(&flow.sharing);
    FairShare(capacities_.size()).solve(flows, capacities_);
    for (std::size_t flow = 0; flow < flows.size(); ++flow) {
      ASSERT_NEAR(after[flow], flows[flow]->rate, PRECISION * flows[flow]->rate);
      if (after[flow] != before[flow]) {
        ASSERT_NE(std::ranges::find(reported, there_[flow].number), reported.end());
      }
    }
    for (const auto flow : waiting)
      ASSERT_NE(std::ranges::find(reported, flow), reported.end());
  }
};

/** Shifts: all hosts send over the same random distance, through an uplink of their group of 16. Flows that join
 * together share no links with each other, but do with flows of earlier shifts. */
class Shifts {
  std::mt19937 random_;
  int hosts_;
  IncrementalFairShare share_;
  std::vector<IncrementalFairShare::FlowNumber> numbers_;
  std::vector<SharingFlow> flows_;

  std::vector<double> capacities() const { return std::vector<double>(static_cast<std::size_t>(3 * hosts_), 12.5e9); }

public:
  Shifts(unsigned seed, int hosts) : random_(seed), hosts_(hosts), share_(capacities()) {}

  void join()
  {
    constexpr int GROUP = 16;
    const int shift     = 1 + static_cast<int>(random_() % static_cast<unsigned>(hosts_ - 1));
    for (int host = 0; host < hosts_; ++host) {
      const int to               = (host + shift) % hosts_;
      const std::vector<int> way = {host, 2 * hosts_ + host / GROUP * GROUP + to % GROUP, hosts_ + to};
      numbers_.push_back(share_.add(way, 1, NO_BOUND, 1));
      flows_.push_back({1, NO_BOUND, 1, way});
    }
  }
  void leave(int flows)
  {
    for (; flows > 0; --flows) {
      const std::size_t position = random_() % numbers_.size();
      share_.remove(numbers_[position]);
      numbers_[position] = numbers_.back();
      flows_[position]   = flows_.back();
      numbers_.pop_back();
      flows_.pop_back();
    }
  }
  void update_and_compare()
  {
    constexpr double PRECISION = 1e-12;
    share_.update();
    EXPECT_LE(share_.solved(), 2 * flows_.size());
    std::vector<SharingFlow*> pointers;
    pointers.reserve(flows_.size());
    for (SharingFlow& flow : flows_)
      pointers.push_back(&flow);
    FairShare(capacities().size()).solve(pointers, capacities());
    for (std::size_t flow = 0; flow < flows_.size(); ++flow)
      ASSERT_NEAR(share_.rate(numbers_[flow]), flows_[flow].rate, PRECISION * flows_[flow].rate);
  }
};

TEST(IncrementalFairShareTest, SolvesNoFlowOfACrowdMoreThanTwiceInAnUpdate)
{
  constexpr unsigned NETWORKS = 4;
  for (unsigned seed = 0; seed < NETWORKS; ++seed) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, seed);
    Shifts shifts(seed, 64 << (seed % 3));
    for (int join = 0; join < 8; ++join) {
      shifts.join();
      ASSERT_NO_FATAL_FAILURE(shifts.update_and_compare());
      shifts.leave(20);
      ASSERT_NO_FATAL_FAILURE(shifts.update_and_compare());
    }
  }
}

void compare_random_networks(unsigned networks)
{
  constexpr int UPDATES = 20;
  for (unsigned seed = 0; seed < networks; ++seed) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, seed);
    RandomNetwork network(seed);
    for (int update = 0; update < UPDATES; ++update)
      ASSERT_NO_FATAL_FAILURE(network.change_and_compare());
  }
}

TEST(IncrementalFairShareTest, EqualsTheFullSolve)
{
  compare_random_networks(250);
}

// 200,000 updates, run on demand with --gtest_also_run_disabled_tests.
TEST(IncrementalFairShareTest, DISABLED_EqualsTheFullSolveManyTimes)
{
  compare_random_networks(10000);
}

} // namespace
} // namespace weft
