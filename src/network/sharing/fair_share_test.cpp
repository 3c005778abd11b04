// SPDX-License-Identifier: LGPL-2.1-only
#include "network/sharing/fair_share_test.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace weft {
namespace {

constexpr double UNBOUND = 1e30;

std::vector<double> rates(std::vector<SharingFlow> flows, const std::vector<double>& capacities)
{
  std::vector<SharingFlow*> pointers;
  pointers.reserve(flows.size());
  for (SharingFlow& flow : flows)
    pointers.push_back(&flow);
  FairShare(capacities.size()).solve(pointers, capacities);
  std::vector<double> all;
  all.reserve(flows.size());
  for (const SharingFlow& flow : flows)
    all.push_back(flow.rate);
  return all;
}

TEST(FairShareTest, SharesALinkEvenly)
{
  EXPECT_EQ(rates({{1, UNBOUND, 1, {0}}, {1, UNBOUND, 1, {0}}}, {10}), (std::vector<double>{5, 5}));
}

TEST(FairShareTest, SharesByWeight)
{
  EXPECT_EQ(rates({{3, UNBOUND, 1, {0}}, {1, UNBOUND, 1, {0}}}, {8}), (std::vector<double>{6, 2}));
}

TEST(FairShareTest, GivesAwayWhatABoundLeaves)
{
  EXPECT_EQ(rates({{1, 2, 1, {0}}, {1, UNBOUND, 1, {0}}}, {10}), (std::vector<double>{2, 8}));
}

// The textbook's example: one long route and several short ones.
TEST(FairShareTest, GivesAFlowItsNarrowestLinksShare)
{
  EXPECT_EQ(rates({{1, UNBOUND, 1, {0, 1}}, {1, UNBOUND, 1, {0}}, {1, UNBOUND, 1, {1}}}, {10, 4}),
            (std::vector<double>{2, 8, 2}));
}

TEST(FairShareTest, CountsRepeatedUsesAndCopies)
{
  EXPECT_EQ(rates({{1, UNBOUND, 1, {0, 0}}, {1, UNBOUND, 1, {0}}}, {9}), (std::vector<double>{3, 3}));
  EXPECT_EQ(rates({{1, UNBOUND, 3, {0}}, {1, UNBOUND, 1, {0}}}, {8}), (std::vector<double>{2, 2}));
}

/** Checks the definition of max-min fairness: each flow is at its bound, or one of its resources is full and no flow
 * there has a higher rate divided by weight. */
void check(const std::vector<SharingFlow>& flows, const std::vector<double>& rates,
           const std::vector<double>& capacities)
{
  constexpr double PRECISION = 1e-9;
  std::vector<double> used(capacities.size());
  std::vector<double> most(capacities.size());
  for (std::size_t flow = 0; flow < flows.size(); ++flow)
    for (const int resource : flows[flow].resources) {
      const auto at = static_cast<std::size_t>(resource);
      used[at] += rates[flow] * flows[flow].copies;
      most[at] = std::max(most[at], rates[flow] / flows[flow].weight);
    }
  for (std::size_t resource = 0; resource < capacities.size(); ++resource)
    ASSERT_LE(used[resource], capacities[resource] * (1 + PRECISION));
  for (std::size_t flow = 0; flow < flows.size(); ++flow) {
    const bool held_up = std::ranges::any_of(flows[flow].resources, [&](int resource) {
      const auto at = static_cast<std::size_t>(resource);
      return used[at] >= capacities[at] * (1 - PRECISION) &&
             rates[flow] / flows[flow].weight >= most[at] * (1 - PRECISION);
    });
    ASSERT_TRUE(held_up || rates[flow] >= flows[flow].bound * (1 - PRECISION));
    ASSERT_LE(rates[flow], flows[flow].bound * (1 + PRECISION));
  }
}

TEST(FairShareTest, IsFairInRandomNetworks)
{
  std::mt19937 random(1);
  const auto below = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  for (int attempt = 0; attempt < 2000; ++attempt) {
    std::vector<double> capacities(1 + static_cast<std::size_t>(below(8)));
    for (double& one : capacities)
      one = 1 + below(20);
    std::vector<SharingFlow> flows(1 + static_cast<std::size_t>(below(12)));
    for (SharingFlow& flow : flows) {
      flow.weight = 1.0 / (1 + below(4));
      flow.bound  = below(2) ? UNBOUND : 0.5 + below(10);
      flow.copies = 1.0 + below(3);
      for (int uses = 1 + below(4); uses > 0; --uses)
        flow.resources.push_back(below(static_cast<int>(capacities.size())));
    }
    check(flows, rates(flows, capacities), capacities);
  }
}

} // namespace
} // namespace weft
