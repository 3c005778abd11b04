// SPDX-License-Identifier: LGPL-2.1-only
#include "model/switch/fixed_point.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace weft {
namespace {

using Ranks = std::vector<std::vector<float>>; // by rank, by element

std::vector<float> added(const Ranks& ranks, std::size_t block)
{
  std::vector<const float*> contributions;
  contributions.reserve(ranks.size());
  for (const std::vector<float>& rank : ranks)
    contributions.push_back(rank.data());
  std::vector<float> sum(ranks.front().size());
  add_fixed_point(contributions, sum, block);
  return sum;
}

/** Returns the smallest e with |x| < 2^e in elements @p first to @p last of all ranks. */
int block_exponent(const Ranks& ranks, std::size_t first, std::size_t last)
{
  int exponent = std::numeric_limits<int>::min();
  for (const std::vector<float>& rank : ranks)
    for (std::size_t at = first; at < last; ++at)
      if (rank[at] != 0)
        exponent = std::max(exponent, std::ilogb(rank[at]) + 1);
  return exponent;
}

double exact(const Ranks& ranks, std::size_t element)
{
  double sum = 0; // sum of few floats; its error is far below their rounding
  for (const std::vector<float>& rank : ranks)
    sum += static_cast<double>(rank[element]);
  return sum;
}

constexpr float INFINITE  = std::numeric_limits<float>::infinity();
constexpr float NO_NUMBER = std::numeric_limits<float>::quiet_NaN();

/** Random ranks, elements and blocks with a fixed seed. */
class RandomSums : public testing::Test {
protected:
  std::mt19937 random{20240229};
  Ranks ranks;
  std::size_t block = 1;

  int between(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); }
  /** Draws numbers with exponents of @p middle plus or minus @p spread. */
  void draw(int middle, int spread)
  {
    block               = static_cast<std::size_t>(between(1, 64));
    const auto elements = static_cast<std::size_t>(between(1, 200));
    ranks.assign(static_cast<std::size_t>(between(1, 300)), std::vector<float>(elements));
    for (std::vector<float>& rank : ranks)
      for (float& value : rank)
        value = std::ldexp(std::uniform_real_distribution<float>(-1, 1)(random), middle + between(-spread, spread));
  }
  void expect_within_bound()
  {
    const std::vector<float> sum = added(ranks, block);
    const auto grids_a_unit      = static_cast<double>(std::numeric_limits<std::int32_t>::max() / ranks.size());
    for (std::size_t at = 0; at < sum.size(); ++at) {
      const std::size_t first = at / block * block;
      const int exponent      = block_exponent(ranks, first, std::min(first + block, sum.size()));
      const double grid       = std::ldexp(1 / grids_a_unit, exponent);
      const double rounding   = std::max(std::fabs(sum[at]) * 0x1p-24, 0x1p-150);
      // 1e-14 allows for the rounding of divisions and products of doubles.
      EXPECT_LE(std::fabs(sum[at] - exact(ranks, at)),
                (static_cast<double>(ranks.size()) * 0.5 * grid + rounding) * (1 + 1e-6) +
                    1e-14 * std::ldexp(static_cast<double>(ranks.size()), exponent));
    }
  }
};

constexpr int DRAWS = 100;

TEST_F(RandomSums, AreWithinTheBound)
{
  for (int i = 0; i < DRAWS; ++i) {
    draw(between(-20, 20), between(0, 40));
    expect_within_bound();
  }
}

TEST_F(RandomSums, AreWithinTheBoundWhereNumbersAreTinyOrHuge)
{
  for (const int middle : {-148, -130, -120, 110}) // subnormal below 2^-126; sums below 2^128
    for (int i = 0; i < DRAWS / 4; ++i) {
      draw(middle, 3);
      expect_within_bound();
    }
}

TEST_F(RandomSums, DoNotDependOnTheOrderOfRanks)
{
  for (int i = 0; i < DRAWS; ++i) {
    draw(0, 20);
    const std::vector<float> before = added(ranks, block);
    std::ranges::shuffle(ranks, random);
    EXPECT_EQ(added(ranks, block), before);
  }
}

TEST_F(RandomSums, AreNegatedWithTheirNumbers)
{
  for (int i = 0; i < DRAWS; ++i) {
    draw(0, 20);
    std::vector<float> negated = added(ranks, block);
    for (float& value : negated)
      value = -value;
    for (std::vector<float>& rank : ranks)
      for (float& value : rank)
        value = -value;
    EXPECT_EQ(added(ranks, block), negated);
  }
}

TEST_F(RandomSums, AreExactWhereTheGridIsFinerThanTheSum)
{
  // Integers from 64 to 127 on at most 16 ranks: their sum needs 11 bits, and half a unit in the last place of a float
  // exceeds 16 halves of the grid 2^7 / (2^31 / 16).
  for (int i = 0; i < DRAWS; ++i) {
    ranks.assign(static_cast<std::size_t>(between(1, 16)), std::vector<float>(64));
    for (std::vector<float>& rank : ranks)
      for (float& value : rank)
        value = static_cast<float>(between(64, 127));
    const std::vector<float> sum = added(ranks, 64);
    for (std::size_t at = 0; at < sum.size(); ++at)
      EXPECT_EQ(sum[at], exact(ranks, at));
  }
}

TEST(FixedPoint, NeverOverflows)
{
  // The largest value below a power of two on all ranks.
  for (const std::size_t count : {1U, 2U, 256U, 257U, 1000U, 65536U}) {
    const Ranks ranks(count, {std::nextafter(1.0F, 0.0F), -std::nextafter(1.0F, 0.0F)});
    const std::vector<float> sum = added(ranks, 2);
    const auto expected          = static_cast<double>(count);
    EXPECT_NEAR(sum[0], expected, expected * static_cast<double>(count) * 0x1p-31 + expected * 0x1p-23) << count;
    EXPECT_EQ(sum[1], -sum[0]) << count;
  }
}

TEST(FixedPoint, LosesValuesFarBelowTheBlocksMaximum)
{
  // 2^31 - 1 units for less than 2: one unit is about 2^-30.
  const Ranks ranks{{1.0F, 0x1p-32F, 0x1p-30F}};
  EXPECT_EQ(added(ranks, 3)[1], 0.0F);
  EXPECT_NE(added(ranks, 3)[2], 0.0F);
  // A small value survives in a separate block.
  EXPECT_EQ(added(ranks, 1)[1], 0x1p-32F);
}

TEST(FixedPoint, UsesOneExponentForAllRanks)
{
  const Ranks ranks{{0x1p-32F}, {1.0F}};
  EXPECT_EQ(added(ranks, 1)[0], 1.0F);
  const Ranks cancelling{{0x1p-32F, 0x1p-32F}, {1.0F, 0.0F}, {-1.0F, 0.0F}};
  EXPECT_EQ(added(cancelling, 2), (std::vector<float>{0.0F, 0.0F}));
}

TEST(FixedPoint, AddsZeros)
{
  EXPECT_EQ(added({{0.0F, -0.0F}, {0.0F, 0.0F}}, 1), (std::vector<float>{0.0F, 0.0F}));
  EXPECT_EQ(added({{}, {}}, 4), std::vector<float>());
}

TEST(FixedPoint, RoundsTheSumOfOneRank)
{
  EXPECT_EQ(added({{1.0F, 3.0F * 0x1p-31F}}, 2)[1], static_cast<float>(1 / std::ldexp(2147483647.0, -1)));
}

TEST(FixedPoint, OverflowsToInfinity)
{
  const float largest = std::numeric_limits<float>::max();
  EXPECT_EQ(added({{largest, -largest}, {largest, -largest}}, 2), (std::vector<float>{INFINITE, -INFINITE}));
  EXPECT_EQ(added({{largest}, {-largest}}, 1)[0], 0.0F);
}

TEST(FixedPoint, BlocksWithNonFiniteValuesBecomeNaN)
{
  for (const float bad : {NO_NUMBER, -NO_NUMBER, INFINITE, -INFINITE})
    for (const auto& [first, second] : {std::pair{bad, 1.0F}, std::pair{1.0F, bad}}) {
      const std::vector<float> sum = added({{1.0F, first, 2.0F}, {1.0F, second, 2.0F}}, 2);
      EXPECT_TRUE(std::isnan(sum[0]));
      EXPECT_TRUE(std::isnan(sum[1]));
      EXPECT_EQ(sum[2], 4.0F); // the next block
    }
}

TEST(FixedPoint, SumMayAliasAContribution)
{
  std::array<float, 3> mine{1.0F, 2.0F, 3.0F};
  const std::array<float, 3> other{4.0F, 5.0F, 6.0F};
  const std::array<const float*, 2> contributions{other.data(), mine.data()};
  add_fixed_point(contributions, mine, 2);
  EXPECT_EQ(mine, (std::array{5.0F, 7.0F, 9.0F}));
}

TEST(FixedPoint, RejectsEmptyBlocksAndContributions)
{
  std::array<float, 1> sum{};
  const std::array<const float*, 1> contributions{sum.data()};
  EXPECT_THROW(add_fixed_point(contributions, sum, 0), std::logic_error);
  EXPECT_THROW(add_fixed_point({}, sum, 1), std::logic_error);
}

} // namespace
} // namespace weft
