// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/fabric_state.hpp"

#include "fabric/fabric_test.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

class FabricStateTest : public ::testing::Test {
protected:
  Fabric fabric_ = fabric_of(FABRIC); // link 2 h leads from host h to the switch, 2 h + 1 back
  FabricState state_{fabric_};

  Route route(VertexId from, VertexId to) const
  {
    Route route;
    state_.route(from, to, route);
    return route;
  }
};

TEST_F(FabricStateTest, AtFirstAllIsUp)
{
  EXPECT_TRUE(state_.all_up());
  for (LinkId link = 0; link < 8; ++link)
    EXPECT_TRUE(state_.link_is_up(link));
  EXPECT_TRUE(state_.is_up(route(0, 3)));
}

TEST_F(FabricStateTest, OneDirectionOfACableCanBeDown)
{
  state_.set_link(2, false);
  EXPECT_FALSE(state_.all_up());
  EXPECT_FALSE(state_.link_is_up(2));
  EXPECT_TRUE(state_.link_is_up(3));
  EXPECT_FALSE(state_.cable_is_up(2));
  EXPECT_FALSE(state_.cable_is_up(3));
  EXPECT_TRUE(state_.cable_is_up(4));
  EXPECT_FALSE(state_.is_up(route(1, 0)));
  EXPECT_TRUE(state_.is_up(route(0, 1)));
}

TEST_F(FabricStateTest, ASwitchThatIsDownTakesItsCablesWithIt)
{
  state_.set_switch(0, false);
  EXPECT_FALSE(state_.switch_is_up(0));
  for (LinkId link = 0; link < 8; ++link)
    EXPECT_FALSE(state_.link_is_up(link));
  EXPECT_FALSE(state_.is_up(route(0, 1)));
}

TEST_F(FabricStateTest, WhatComesUpAgainIsAsBefore)
{
  state_.set_link(2, false);
  state_.set_link(2, false);
  state_.set_switch(0, false);
  state_.set_link(2, true);
  EXPECT_FALSE(state_.link_is_up(2));
  state_.set_switch(0, true);
  EXPECT_TRUE(state_.all_up());
  EXPECT_TRUE(state_.link_is_up(2));
}

TEST_F(FabricStateTest, EveryChangeBeginsAnEpoch)
{
  const FabricEpoch first = state_.epoch();
  state_.set_link(2, true);
  EXPECT_EQ(state_.epoch(), first); // already up
  state_.set_link(2, false);
  state_.set_link(2, false);
  EXPECT_EQ(state_.epoch(), first + 1);
  state_.set_link(2, true);
  EXPECT_EQ(state_.epoch(), first + 2); // results computed in between are stale too
  state_.set_switch(0, false);
  EXPECT_EQ(state_.epoch(), first + 3);
}

TEST_F(FabricStateTest, ARouteSaysWhetherItIsUp)
{
  Route route;
  EXPECT_TRUE(state_.route(1, 0, route));
  state_.set_link(2, false);
  Route broken;
  EXPECT_FALSE(state_.route(1, 0, broken));
  EXPECT_EQ(broken.links, route.links);
}

TEST_F(FabricStateTest, AValueIsComputedAgainAfterAChange)
{
  StateCache<bool> cache;
  int computed       = 0;
  const auto compute = [&] {
    ++computed;
    return state_.link_is_up(2);
  };
  EXPECT_FALSE(cache.is_current(state_));
  const auto kept = cache.get(state_, compute);
  EXPECT_TRUE(*cache.get(state_, compute));
  EXPECT_EQ(computed, 1);
  state_.set_link(2, false);
  EXPECT_FALSE(cache.is_current(state_));
  EXPECT_FALSE(*cache.get(state_, compute));
  EXPECT_EQ(computed, 2);
  EXPECT_TRUE(*kept);
}

} // namespace
} // namespace weft
