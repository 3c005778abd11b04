// SPDX-License-Identifier: LGPL-2.1-only
#include "model/noise/jitter.hpp"

#include <array>
#include <gtest/gtest.h>
#include <set>

namespace weft {
namespace {

NoiseModel noise(Distribution distribution, double shape = 0)
{
  NoiseModel model;
  model.links.push_back({"*", Seconds(1e-6), distribution, shape, {true, true, false}});
  return model;
}

TEST(Jitter, HasItsMean)
{
  constexpr std::uint32_t COUNT = 50000;
  for (const auto& [distribution, shape] :
       {std::pair{Distribution::fixed, 0.0}, {Distribution::exponential, 0.0}, {Distribution::pareto, 3.0}}) {
    const NoiseModel model = noise(distribution, shape);
    Seconds sum;
    for (std::uint32_t k = 0; k < COUNT; ++k)
      sum += Jitter(model).on(0, {Crossing::Kind::message, 5, k});
    EXPECT_NEAR(sum.value() / COUNT, 1e-6, 2e-8);
  }
}

TEST(Jitter, AffectsOnlyMatchingLinks)
{
  const NoiseModel model = noise(Distribution::fixed);
  const Crossing crossing{Crossing::Kind::message, 0, 0};
  EXPECT_EQ(Jitter(model).on(std::array{0, 1, 2}, crossing), Seconds(2e-6));
  EXPECT_EQ(Jitter(model).on(2, crossing), Seconds());
}

TEST(Jitter, DiffersByLinkSenderAndMessage)
{
  NoiseModel model = noise(Distribution::exponential);
  std::set<double> found;
  for (const auto kind :
       {Crossing::Kind::message, Crossing::Kind::up_the_tree, Crossing::Kind::down_the_tree, Crossing::Kind::multicast})
    for (const std::uint32_t who : {0U, 1U})
      for (const std::uint32_t number : {0U, 1U})
        for (const int link : {0, 1})
          found.insert(Jitter(model).on(link, {kind, who, number}).value());
  EXPECT_EQ(found.size(), 32);
  model.seed = 2;
  EXPECT_FALSE(found.contains(Jitter(model).on(0, {Crossing::Kind::message, 0, 0}).value()));
}

} // namespace
} // namespace weft
