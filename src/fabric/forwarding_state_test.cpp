// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/forwarding_state.hpp"

#include "fabric/fabric_test.hpp"

#include <gtest/gtest.h>

namespace weft {
namespace {

/** A star of four hosts, whose ports have one entry. */
std::string star(const std::string& more)
{
  return FABRIC + "[switch.forwarding]\nkind = \"cache\"\ntcam_latency = \"10ns\"\nhit_latency = \"1ns\"\n" +
         "hash = \"crc\"\nentries = 1\nways = 1\n" + more;
}

Route route_between(const Fabric& fabric, VertexId from, VertexId to)
{
  Route route;
  fabric.route(from, to, route);
  return route;
}

TEST(ForwardingState, FollowsNothingWithoutIntervals)
{
  const Fabric fabric = fabric_of(star(""));
  ForwardingState state(fabric);
  const Route route                   = route_between(fabric, 0, 1);
  const ForwardingState::Start missed = state.start(route, 1, {});
  EXPECT_DOUBLE_EQ(missed.added.value(), 10e-9);
  EXPECT_EQ(missed.message, ForwardingState::NONE);
  EXPECT_DOUBLE_EQ(state.start(route, 1, {}).added.value(), 0);
  EXPECT_EQ(state.counters(0)->hits, 1);
  EXPECT_EQ(state.counters(0)->misses, 1);
  EXPECT_FALSE(state.bounds(route.links[0]));
}

TEST(ForwardingState, BoundsWhatCrossesAPortUntilItEnds)
{
  const Fabric fabric = fabric_of(star("interval = \"1ns\"\ntcam_interval = \"4ns\"\nframe = \"100B\"\n"));
  ForwardingState state(fabric);
  const Route one   = route_between(fabric, 0, 1);
  const Route other = route_between(fabric, 0, 2);
  EXPECT_TRUE(state.bounds(one.links[0]));
  EXPECT_FALSE(state.bounds(one.links[1])); // to a host
  const auto first = state.start(one, 1, {}).message;
  state.begin(first, Bytes(1e6), Bytes(1e6), {});
  EXPECT_NEAR(state.rate(one.links[0], {}), 100e9, 1e8);
  const auto second = state.start(other, 2, {}).message;
  state.begin(second, Bytes(1e6), Bytes(1e6), {});
  EXPECT_NEAR(state.rate(one.links[0], {}), 25e9, 1e8); // they evict each other
  state.end(second, Seconds(1e-6));
  EXPECT_NEAR(state.rate(one.links[0], Seconds(1e-6)), 100e9, 1e8);
  state.end(first, Seconds(1e-6));
  EXPECT_EQ(state.rate(one.links[0], Seconds(1e-6)), std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(state.counters(0)->packets, 20000);
}

TEST(ForwardingState, ForgetsAMessageThatNeverBegan)
{
  const Fabric fabric = fabric_of(star("interval = \"1ns\"\n"));
  ForwardingState state(fabric);
  const Route route = route_between(fabric, 0, 1);
  state.end(state.start(route, 1, {}).message, {});
  EXPECT_EQ(state.rate(route.links[0], {}), std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(state.counters(0)->packets, 0);
}

} // namespace
} // namespace weft
