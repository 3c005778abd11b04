// SPDX-License-Identifier: LGPL-2.1-only
#include "base/histogram.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(HistogramTest, HasExactQuantilesOfRepeatedValues)
{
  constexpr double ROUNDING = 1e-18;
  Histogram times;
  for (int call = 0; call < 95; ++call)
    times.add(1e-6);
  for (int call = 0; call < 5; ++call)
    times.add(3e-6);
  EXPECT_NEAR(times.quantile(0.5), 1e-6, ROUNDING);
  EXPECT_NEAR(times.quantile(0.95), 1e-6, ROUNDING);
  EXPECT_NEAR(times.quantile(0.96), 3e-6, ROUNDING);
  EXPECT_NEAR(times.quantile(1), 3e-6, ROUNDING);
  EXPECT_NEAR(times.max(), 3e-6, ROUNDING);
  EXPECT_NEAR(times.mean(), 1.1e-6, ROUNDING);
  EXPECT_EQ(times.count(), 100);
}

TEST(HistogramTest, IsOffByLessThanATenThousandth)
{
  constexpr int VALUES = 100'000;
  Histogram all;
  for (int value = 1; value <= VALUES; ++value)
    all.add(value);
  for (const double part : {0.01, 0.5, 0.95, 0.99, 0.999})
    EXPECT_NEAR(all.quantile(part) / (part * VALUES), 1, 1e-4);
}

TEST(HistogramTest, AddsHistograms)
{
  Histogram one;
  one.add(0);
  one.add(2);
  Histogram other;
  other.add(8);
  one.add(other);
  EXPECT_EQ(one.count(), 3);
  EXPECT_DOUBLE_EQ(one.quantile(0.3), 0);
  EXPECT_DOUBLE_EQ(one.quantile(0.5), 2);
  EXPECT_DOUBLE_EQ(one.quantile(0.9), 8);
  EXPECT_DOUBLE_EQ(Histogram().quantile(0.5), 0);
}

} // namespace
} // namespace weft
