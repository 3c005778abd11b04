// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/forwarding_state.hpp"

#include "fabric/fabric_test.hpp"
#include "fabric/rerouting.hpp"

#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace weft {
namespace {

/** Returns a star of four hosts whose caches have one entry. */
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

TEST(ForwardingState, TracksNoMessagesWithoutIntervals)
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

/** Compares the hits of random messages on a torus with the hits of caches without KEPT tags. */
void expect_hits_of_plain_tags(const std::string& forwarding, const CacheShape& shape)
{
  const Fabric fabric = fabric_of(
      replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"torus\"\ndimensions = [4, 4, 4]\nhosts_per_switch = 2") +
      "[switch.forwarding]\nkind = \"cache\"\ntcam_latency = \"10ns\"\n"
      "hit_latency = \"1ns\"\nentries = " +
      std::to_string(shape.entries) + "\nways = " + std::to_string(shape.ways) + "\n" + forwarding);
  ForwardingState state(fabric);
  std::map<LinkId, ForwardingCache> caches;
  std::int64_t hits = 0;
  std::mt19937 random(7);
  for (int message = 0; message < 20000; ++message) {
    const auto from = static_cast<VertexId>(random() % static_cast<unsigned>(fabric.host_count()));
    const auto to   = static_cast<VertexId>(random() % static_cast<unsigned>(fabric.host_count()));
    if (from == to)
      continue;
    const Route route = route_between(fabric, from, to);
    state.start(route, to, {});
    for (std::size_t hop = 0; hop < route.through.size(); ++hop) {
      const int index            = route.through[hop] - fabric.host_count();
      const ForwardingHash& hash = *fabric.forwarding_hash(index);
      const ForwardingTag tag    = hash.tag(index, hash.address(to));
      ForwardingCache& cache     = caches.try_emplace(route.links[hop], shape).first->second;
      if (cache.lookup(tag))
        ++hits;
      else
        cache.fill(tag, route.links[hop + 1]);
    }
  }
  std::int64_t counted = 0;
  for (int index = 0; index < fabric.switch_count(); ++index)
    counted += state.counters(index)->hits;
  EXPECT_GT(hits, 0);
  EXPECT_EQ(counted, hits);
}

TEST(ForwardingState, KeptTagsDoNotChangeHits)
{
  // With 128 tags in 16, 32 and 128 sets of two, some sets hold all their tags and some do not.
  for (const int entries : {32, 64, 256})
    expect_hits_of_plain_tags("hash = \"crc\"\n", {entries, 2, Replacement::lru});
  expect_hits_of_plain_tags("hash = \"crc\"\nreplacement = \"fifo\"\n", {64, 2, Replacement::fifo});
  expect_hits_of_plain_tags("hash = \"crc\"\nreplacement = \"random\"\n", {64, 2, Replacement::random});
  // Eight tags at each switch.
  expect_hits_of_plain_tags("", {8, 2, Replacement::lru});
  expect_hits_of_plain_tags("", {4, 2, Replacement::lru});
}

TEST(ForwardingState, LimitsMessagesUntilTheyEnd)
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
  EXPECT_NEAR(state.rate(one.links[0], {}), 25e9, 1e8); // messages evict each other
  state.end(second, Seconds(1e-6));
  EXPECT_NEAR(state.rate(one.links[0], Seconds(1e-6)), 100e9, 1e8);
  state.end(first, Seconds(1e-6));
  EXPECT_EQ(state.rate(one.links[0], Seconds(1e-6)), std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(state.counters(0)->packets, 20000);
}

TEST(ForwardingState, RemovesMessagesThatNeverBegan)
{
  const Fabric fabric = fabric_of(star("interval = \"1ns\"\n"));
  ForwardingState state(fabric);
  const Route route = route_between(fabric, 0, 1);
  state.end(state.start(route, 1, {}).message, {});
  EXPECT_EQ(state.rate(route.links[0], {}), std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(state.counters(0)->packets, 0);
}

/** Returns a ring of five switches with a host each. */
std::string ring(const std::string& more)
{
  return replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"torus\"\ndimensions = [5]") +
         "[switch.forwarding]\nkind = \"cache\"\ntcam_latency = \"10ns\"\nhit_latency = \"1ns\"\n" + more;
}

/** Sets the cable between two switches of a fabric up or down. */
void set_cable(FabricState& state, int one, int other, bool up)
{
  const Fabric& fabric = state.fabric();
  for (LinkId id = 0; std::cmp_less(id, fabric.links().size()); ++id)
    if (fabric.link(id).from == fabric.host_count() + one && fabric.link(id).to == fabric.host_count() + other) {
      state.set_link(id, up);
      state.set_link(reverse(id), up);
    }
}

/** Sends a message between two hosts by the routes of @p known. Returns its number of misses. */
int misses(ForwardingState& state, const FabricState& known, VertexId from, VertexId to)
{
  Route route;
  EXPECT_TRUE(Rerouting(known).find(from, to, route));
  return static_cast<int>(std::lround(state.start(route, to, {}).added.value() / 10e-9));
}

// Figure 12 of Hirasawa et al.: node 11 (switch 1 here) loses the link X0,+ to node 12 (switch 2 here).
TEST(ForwardingState, ARingOfFiveGoesOnWithoutACable)
{
  for (const std::string entries :
       {"", "entries = 2\nways = 2\n"}) { // 3 tags at a switch: some or all are never evicted
    const Fabric fabric = fabric_of(ring(entries));
    FabricState known(fabric);
    ForwardingState state(fabric);
    EXPECT_EQ(misses(state, known, 1, 2), 2);
    EXPECT_EQ(misses(state, known, 1, 2), 0);
    set_cable(known, 1, 2, false);
    state.change_routes(known);
    // The route is 1, 0, 4, 3, 2. At switch 0 the tag is shared with host 1, which leaves by another port, as at switch
    // 3.
    EXPECT_EQ(misses(state, known, 1, 2), 5);
    EXPECT_EQ(misses(state, known, 1, 2), 2);
    // At switch 1, all destinations behind X0,+ now leave by X0,- and still share their entry.
    const std::int64_t hits = state.counters(1)->hits;
    EXPECT_EQ(misses(state, known, 1, 3), 2); // misses at switch 0 and at its own switch
    EXPECT_EQ(misses(state, known, 1, 3), 0);
    EXPECT_EQ(state.counters(1)->hits, hits + 2);
    set_cable(known, 1, 2, true);
    state.change_routes(known);
    EXPECT_EQ(misses(state, known, 1, 2), 2);
    EXPECT_EQ(misses(state, known, 1, 2), 0);
  }
}

TEST(ForwardingState, EachDestinationMissesOnceByCrcAfterRoutesHaveChanged)
{
  const Fabric fabric = fabric_of(ring("hash = \"crc\"\n"));
  FabricState known(fabric);
  ForwardingState state(fabric);
  set_cable(known, 1, 2, false);
  state.change_routes(known);
  EXPECT_EQ(misses(state, known, 1, 2), 5);
  EXPECT_EQ(misses(state, known, 1, 2), 0);
  EXPECT_EQ(misses(state, known, 0, 2), 1); // enters by another port
}

TEST(ForwardingState, MessagesInFlightAreLookedUpByTheNewRoutes)
{
  const Fabric fabric = fabric_of(ring("interval = \"1ns\"\ntcam_interval = \"4ns\"\nframe = \"100B\"\n"));
  FabricState known(fabric);
  ForwardingState state(fabric);
  const Route route = route_between(fabric, 0, 2); // via 0, 1, 2
  const auto number = state.start(route, 2, {}).message;
  state.begin(number, Bytes(1e6), Bytes(1e6), {});
  EXPECT_NEAR(state.rate(route.links[0], {}), 100e9, 1e8);
  set_cable(known, 1, 2, false);
  EXPECT_EQ(state.change_routes(known), (std::vector<LinkId>{route.links[0], route.links[1], route.links[2]}));
  EXPECT_NEAR(state.rate(route.links[0], {}), 25e9, 1e8);  // with 1 in its tag
  EXPECT_NEAR(state.rate(route.links[1], {}), 100e9, 1e8); // with 3
  state.end(number, Seconds(1e-6));
}

TEST(ForwardingState, EntriesHoldThePortsThatAPolicyChoosesAmong)
{
  std::string text = replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\ndown = [2, 2]\nup = [1, 2]");
  text += "[switch.forwarding]\nkind = \"cache\"\ntcam_latency = \"10ns\"\nhit_latency = \"1ns\"\n"
          "entries = 2\nways = 2\n[routing]\npolicy = \"ecmp-message\"\n";
  const Fabric fabric = fabric_of(text);
  ForwardingState state(fabric);
  Route route = route_between(fabric, 0, 2);
  state.start(route, 2, {});
  const Link usual = fabric.link(route.links[1]);
  for (LinkId id = 0; std::cmp_less(id, fabric.links().size()); ++id)
    if (fabric.link(id).from == usual.from && fabric.link(id).to > usual.from && fabric.link(id).to != usual.to)
      route.links[1] = id; // the second uplink
  ASSERT_NE(fabric.link(route.links[1]).to, usual.to);
  const std::int64_t hits = state.counters(0)->hits;
  state.start(route, 2, {});
  EXPECT_EQ(state.counters(0)->hits, hits + 1);
}

} // namespace
} // namespace weft
