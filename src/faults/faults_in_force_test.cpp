// SPDX-License-Identifier: LGPL-2.1-only
#include "faults/faults_in_force.hpp"

#include <gtest/gtest.h>
#include <stdexcept>

namespace weft {
namespace {

using What = FabricChange::What;

TEST(FaultsInForce, APartIsDownUntilItsLastFaultEnds)
{
  for (const What what : {What::link, What::device}) {
    FaultsInForce faults;
    EXPECT_TRUE(faults.apply({what, 3}));
    EXPECT_FALSE(faults.apply({what, 3}));
    EXPECT_TRUE(faults.apply({what, 4}));
    EXPECT_FALSE(faults.apply({what, 3, true}));
    EXPECT_TRUE(faults.apply({what, 3, true}));
    EXPECT_TRUE(faults.apply({what, 3}));
  }
}

TEST(FaultsInForce, ALinkAndASwitchOfOneNumberDiffer)
{
  FaultsInForce faults;
  EXPECT_TRUE(faults.apply({What::link, 0}));
  EXPECT_TRUE(faults.apply({What::device, 0}));
  EXPECT_TRUE(faults.apply({What::link, 0, true}));
}

TEST(FaultsInForce, TheSlowestFaultOfALinkCounts)
{
  FaultsInForce faults;
  EXPECT_EQ(faults.bandwidth(1), 1);
  EXPECT_FALSE(faults.apply({What::bandwidth, 1, false, 0.1}));
  faults.apply({What::bandwidth, 1, false, 0.5});
  faults.apply({What::bandwidth, 1, false, 0.5});
  EXPECT_EQ(faults.bandwidth(1), 0.1);
  EXPECT_EQ(faults.bandwidth(2), 1);
  faults.apply({What::bandwidth, 1, true, 0.1});
  EXPECT_EQ(faults.bandwidth(1), 0.5);
  faults.apply({What::bandwidth, 1, true, 0.5});
  EXPECT_EQ(faults.bandwidth(1), 0.5);
  faults.apply({What::bandwidth, 1, true, 0.5});
  EXPECT_EQ(faults.bandwidth(1), 1);
}

TEST(FaultsInForce, LossesOfALinkAreIndependent)
{
  FaultsInForce faults;
  EXPECT_EQ(faults.loss(1), 0);
  faults.apply({What::loss, 1, false, 1, 0.3});
  EXPECT_EQ(faults.loss(1), 0.3);
  faults.apply({What::loss, 1, false, 1, 0.2});
  EXPECT_DOUBLE_EQ(faults.loss(1), 1 - 0.7 * 0.8);
  faults.apply({What::loss, 1, true, 1, 0.3});
  EXPECT_EQ(faults.loss(1), 0.2);
  faults.apply({What::loss, 1, true, 1, 0.2});
  EXPECT_EQ(faults.loss(1), 0);
}

TEST(FaultsInForce, NothingEndsThatHasNotBegun)
{
  FaultsInForce faults;
  faults.apply({What::bandwidth, 1, false, 0.1});
  EXPECT_THROW(faults.apply({What::link, 1, true}), std::logic_error);
  EXPECT_THROW(faults.apply({What::device, 1, true}), std::logic_error);
  EXPECT_THROW(faults.apply({What::bandwidth, 1, true, 0.2}), std::logic_error);
  EXPECT_THROW(faults.apply({What::loss, 1, true, 1, 0.2}), std::logic_error);
}

} // namespace
} // namespace weft
