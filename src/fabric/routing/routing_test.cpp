// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/routing/routing.hpp"

#include "fabric/routing/adaptive_routing.hpp"
#include "fabric/routing/ecmp_routing.hpp"
#include "fabric/topology/dragonfly.hpp"
#include "fabric/topology/fat_tree.hpp"
#include "fabric/topology/topology_test.hpp"
#include "fabric/topology/torus.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

namespace weft {
namespace {

using View = AdaptiveRouting::View;

Route route_of(RoutingPolicy& policy, VertexId from, VertexId to)
{
  Route route;
  policy.route(from, to, route);
  return route;
}

Route static_route(const Topology& topology, VertexId from, VertexId to)
{
  Route route;
  topology.route(from, to, route);
  return route;
}

/** Checks that a route is a path over existing cables and switches. */
void check_connected(const Topology& topology, VertexId from, VertexId to, const Route& route)
{
  const std::vector<Cable> cables = topology.cables();
  VertexId at                     = from;
  for (std::size_t hop = 0; hop < route.links.size(); ++hop) {
    const Cable& cable = cables[static_cast<std::size_t>(route.links[hop] / 2)];
    const bool up      = route.links[hop] % 2 == 0;
    ASSERT_EQ(at, up ? cable.lower : cable.upper);
    at = up ? cable.upper : cable.lower;
    ASSERT_EQ(at, hop + 1 < route.links.size() ? route.through.at(hop) : to);
    ASSERT_TRUE(at == to || not topology.is_host(at));
  }
  ASSERT_EQ(route.through.size() + 1, route.links.size());
}

struct Named {
  std::string text;
  bool detours;
};

class RoutedTopologies : public ::testing::TestWithParam<Named> {};

TEST_P(RoutedTopologies, every_policy_takes_shortest_routes_when_idle)
{
  const auto topology = topology_of(GetParam().text);
  const int hosts     = topology->host_count();
  for (const std::string& name : routing_policies()) {
    const auto policy = make_routing_policy({.policy = name, .seed = 7}, *topology);
    std::mt19937 random(1);
    for (int pair = 0; pair < 400; ++pair) {
      const auto from = static_cast<VertexId>(random() % static_cast<unsigned>(hosts));
      const auto to   = static_cast<VertexId>(random() % static_cast<unsigned>(hosts));
      if (from == to)
        continue;
      const Route route = route_of(*policy, from, to);
      ASSERT_NO_FATAL_FAILURE(check_connected(*topology, from, to, route)) << name;
      ASSERT_EQ(route.links.size(), static_route(*topology, from, to).links.size()) << name;
    }
  }
}

TEST_P(RoutedTopologies, detours_are_two_minimal_legs)
{
  const auto topology = topology_of(GetParam().text);
  EXPECT_EQ(topology->has_detours(), GetParam().detours);
  const int hosts = topology->host_count();
  int detours     = 0;
  for (VertexId from = 0; from < hosts; ++from)
    for (VertexId to = 0; to < hosts; ++to) {
      if (from == to)
        continue;
      AdaptiveRouting policy(*topology, View::local, 3, 0);
      // All minimal routes are busy.
      Route shortest = static_route(*topology, from, to);
      std::vector<Hop> hops;
      if (shortest.links.size() > 2)
        topology->equal_hops(shortest.through.front(), to, hops);
      for (const Hop& hop : hops)
        for (int flow = 0; flow < 1000; ++flow)
          policy.enter(std::vector<int>{hop.link});
      const Route route = route_of(policy, from, to);
      ASSERT_NO_FATAL_FAILURE(check_connected(*topology, from, to, route));
      if (route.links.size() == shortest.links.size())
        continue;
      ++detours;
      bool legs = false;
      for (const VertexId middle : route.through)
        legs = legs ||
               static_route(*topology, from, middle).links.size() + static_route(*topology, middle, to).links.size() ==
                   route.links.size();
      ASSERT_TRUE(legs) << from << " to " << to;
    }
  EXPECT_EQ(detours > 0, GetParam().detours);
}

INSTANTIATE_TEST_SUITE_P(
    Topologies, RoutedTopologies,
    ::testing::Values(Named{"kind = \"star\"\nhosts = 5", false},
                      Named{"kind = \"fat_tree\"\ndown = [4, 4]\nup = [1, 4]", false},
                      Named{"kind = \"fat_tree\"\ndown = [2, 3, 2]\nup = [2, 2, 3]\ncables = [1, 2, 2]", false},
                      Named{"kind = \"dragonfly\"\ngroups = 5\nrouters = 4\nhosts = 2", true},
                      Named{"kind = \"dragonfly\"\ngroups = 6\nchassis = 2\nrouters = 3\nhosts = 1\n"
                            "global_cables = 2\nchassis_cables = 2\nrouter_cables = 3",
                            true},
                      Named{"kind = \"torus\"\ndimensions = [4, 3]\nhosts_per_switch = 2\ncables = 2", true},
                      Named{"kind = \"torus\"\ndimensions = [6]", true},
                      Named{"kind = \"mesh\"\ndimensions = [3, 3, 2]", true}));

TEST(Routing, static_routes_are_the_topologys)
{
  const FatTree tree({{4, 4}, {1, 4}, {1, 1}});
  const auto policy = make_routing_policy({}, tree);
  for (VertexId to = 1; to < tree.host_count(); ++to)
    EXPECT_EQ(route_of(*policy, 0, to).links, static_route(tree, 0, to).links);
  EXPECT_FALSE(policy->routes_each_message());
  EXPECT_FALSE(policy->uses_loads());
}

TEST(Routing, messages_of_switches_keep_static_routes)
{
  const FatTree tree({{4, 4}, {1, 4}, {1, 3}});
  for (const std::string& name : routing_policies()) {
    const auto policy = make_routing_policy({.policy = name, .seed = 5}, tree);
    for (VertexId other = tree.host_count(); other < tree.host_count() + tree.switch_count(); ++other) {
      EXPECT_EQ(route_of(*policy, 3, other).links, static_route(tree, 3, other).links);
      EXPECT_EQ(route_of(*policy, other, 3).links, static_route(tree, other, 3).links);
    }
  }
}

TEST(Ecmp, the_seed_determines_the_route_of_a_pair)
{
  const FatTree tree({{4, 4}, {1, 4}, {1, 1}});
  EcmpRouting one(tree, 1, EcmpRouting::Flow::pair);
  EcmpRouting same(tree, 1, EcmpRouting::Flow::pair);
  EcmpRouting other(tree, 2, EcmpRouting::Flow::pair);
  int differ = 0;
  for (VertexId to = 4; to < tree.host_count(); ++to) {
    const Route route = route_of(one, 0, to);
    EXPECT_EQ(route.links, route_of(one, 0, to).links);
    EXPECT_EQ(route.links, route_of(same, 0, to).links);
    differ += route.links != route_of(other, 0, to).links ? 1 : 0;
  }
  EXPECT_GT(differ, 4); // 9 of 12 are expected
}

/** Returns the distance of a count from its expectation in standard deviations. */
double deviations(double count, double tries, double probability)
{
  return std::abs(count - tries * probability) / std::sqrt(tries * probability * (1 - probability));
}

TEST(Ecmp, collisions_have_the_probability_of_independent_choices)
{
  // Flows of the 4 hosts of a switch over its 4 uplinks: P(no collision) = 4! / 4^4.
  const FatTree tree({{4, 4}, {1, 4}, {1, 1}});
  constexpr int SEEDS = 20000;
  int apart           = 0;
  std::map<std::size_t, int> busiest;
  for (int seed = 0; seed < SEEDS; ++seed) {
    EcmpRouting policy(tree, seed, EcmpRouting::Flow::pair);
    std::map<LinkId, std::size_t> flows;
    for (VertexId from = 0; from < 4; ++from)
      ++flows[route_of(policy, from, 4 + 4 * (from % 3) + from).links[1]];
    apart += flows.size() == 4 ? 1 : 0;
    std::size_t most = 0;
    for (const auto& [link, count] : flows)
      most = std::max(most, count);
    ++busiest[most];
  }
  EXPECT_LT(deviations(apart, SEEDS, 24. / 256), 4);
  // 4 of the 256 placements put all flows on one uplink, 4 * 4 * 3 put three flows on one.
  EXPECT_LT(deviations(busiest[4], SEEDS, 4. / 256), 4);
  EXPECT_LT(deviations(busiest[3], SEEDS, 48. / 256), 4);
}

TEST(Ecmp, choices_at_successive_switches_are_independent)
{
  // Without independence (hash polarization), some of the 4 x 4 routes would not be taken.
  const FatTree tree({{4, 4, 4}, {1, 4, 4}, {1, 1, 1}});
  constexpr int SEEDS = 16000;
  std::map<std::pair<LinkId, LinkId>, int> seen;
  for (int seed = 0; seed < SEEDS; ++seed) {
    EcmpRouting policy(tree, seed, EcmpRouting::Flow::pair);
    const Route route = route_of(policy, 0, 63);
    ++seen[{route.links[1], route.links[2]}];
  }
  EXPECT_EQ(seen.size(), 16U);
  for (const auto& [links, count] : seen)
    EXPECT_LT(deviations(count, SEEDS, 1. / 16), 4.5);
}

TEST(Ecmp, messages_of_a_pair_spread_over_all_routes)
{
  const FatTree tree({{4, 4}, {1, 4}, {1, 1}});
  EcmpRouting policy(tree, 1, EcmpRouting::Flow::message);
  EXPECT_TRUE(policy.routes_each_message());
  constexpr int MESSAGES = 4000;
  std::map<LinkId, int> seen;
  for (int message = 0; message < MESSAGES; ++message)
    ++seen[route_of(policy, 0, 15).links[1]];
  EXPECT_EQ(seen.size(), 4U);
  for (const auto& [link, count] : seen)
    EXPECT_LT(deviations(count, MESSAGES, 1. / 4), 4);
}

TEST(Adaptive, flows_of_a_switch_spread_evenly_over_its_uplinks)
{
  const FatTree tree({{8, 4}, {1, 4}, {1, 1}});
  AdaptiveRouting policy(tree, View::local, 1, 0);
  std::map<LinkId, int> seen;
  for (VertexId from = 0; from < 8; ++from) {
    const Route route = route_of(policy, from, 8 + from);
    policy.enter(route.links);
    ++seen[route.links[1]];
  }
  EXPECT_EQ(seen.size(), 4U);
  for (const auto& [link, count] : seen)
    EXPECT_EQ(count, 2);
  for (const auto& [link, count] : seen)
    EXPECT_EQ(policy.flows_on(link), 2U);
}

TEST(Adaptive, ugal_compares_flows_times_hops_with_a_bias)
{
  // The source's router is the gateway to the destination's: one hop minimally. Each group has the other 4 groups on
  // its 4 routers.
  const Dragonfly dragonfly({5, 1, 4, 1});
  const VertexId from  = 1; // group 0, router 1
  const VertexId to    = 4; // group 1, router 0
  const Route shortest = static_route(dragonfly, from, to);
  ASSERT_EQ(shortest.links.size(), 3U);
  for (const int bias : {0, 1, 5}) {
    AdaptiveRouting policy(dragonfly, View::local, 1, bias);
    for (int flows = 0; flows < 8; ++flows) {
      EXPECT_EQ(route_of(policy, from, to).links == shortest.links, flows <= bias) << flows << " flows, bias " << bias;
      policy.enter(std::vector<int>{shortest.links[1]});
    }
  }
  // All remaining links carry one flow each, and Valiant's routes have four or five hops.
  AdaptiveRouting policy(dragonfly, View::local, 1, 0);
  for (std::size_t link = 0; link < 2 * dragonfly.cables().size(); ++link)
    if (std::cmp_not_equal(link, shortest.links[1]))
      policy.enter(std::vector<int>{static_cast<int>(link)});
  std::set<std::size_t> lengths;
  for (int flows = 0; flows < 8; ++flows) {
    const Route route = route_of(policy, from, to);
    lengths.insert(route.links.size());
    if (flows <= 3) {
      EXPECT_EQ(route.links, shortest.links) << flows;
    }
    if (flows > 5) {
      EXPECT_GT(route.links.size(), shortest.links.size()) << flows;
    }
    policy.enter(std::vector<int>{shortest.links[1]});
  }
  EXPECT_GT(lengths.size(), 1U);
}

TEST(Adaptive, only_a_global_view_sees_the_cable_between_two_groups)
{
  // All hosts of group 0 send to group 1 simultaneously. Their first links are distinct, except for the gateway's.
  const Dragonfly dragonfly({5, 1, 4, 1});
  for (const View view : {View::local, View::global}) {
    AdaptiveRouting policy(dragonfly, view, 1, 0);
    int detours = 0;
    for (VertexId from : {1, 0, 2, 3}) { // the gateway's first
      const Route route = route_of(policy, from, 4 + from);
      policy.enter(route.links);
      detours += route.links.size() > static_route(dragonfly, from, 4 + from).links.size() ? 1 : 0;
    }
    EXPECT_EQ(detours > 0, view == View::global);
  }
}

TEST(Adaptive, links_are_free_again_after_their_flows)
{
  const Torus torus({{4, 4}, 1, 1}, Torus::Edges::wrapped);
  AdaptiveRouting policy(torus, View::local, 1, 0);
  const Route route = route_of(policy, 0, 1);
  policy.enter(route.links);
  policy.enter(std::vector<int>{1000000}); // not a link
  EXPECT_EQ(policy.flows_on(route.links[1]), 1U);
  policy.leave(route.links);
  EXPECT_EQ(policy.flows_on(route.links[1]), 0U);
}

// ---- Stripes

/** Returns the first and the last link of each stripe, and checks their routes. */
std::pair<std::set<LinkId>, std::set<LinkId>> ends_of_stripes(const Topology& topology, RoutingPolicy& policy,
                                                              VertexId from, VertexId to, int stripes)
{
  std::pair<std::set<LinkId>, std::set<LinkId>> ends;
  for (int stripe = 0; stripe < stripes; ++stripe) {
    Route route;
    policy.route_stripe(from, to, stripe, route);
    check_connected(topology, from, to, route);
    ends.first.insert(route.links.front());
    ends.second.insert(route.links.back());
  }
  return ends;
}

/** Each host has a cable to each of four leaves, which two spines join; each host lists the leaves in a different
 * order. */
const std::string RAILS = [] {
  std::string cables;
  for (int host = 0; host < 4; ++host)
    for (int leaf = 0; leaf < 4; ++leaf)
      cables += "{between = [\"h" + std::to_string(host) + "\", \"l" + std::to_string((leaf + host) % 4) + "\"]}, ";
  for (int leaf = 0; leaf < 4; ++leaf)
    for (const char* spine : {"s0", "s1"})
      cables += "{between = [\"l" + std::to_string(leaf) + "\", \"" + spine + "\"]}, ";
  return "kind = \"custom\"\nhosts = [\"h0\", \"h1\", \"h2\", \"h3\"]\n"
         "switches = [\"l0\", \"l1\", \"l2\", \"l3\", \"s0\", \"s1\"]\ncables = [" +
         cables + "]";
}();

TEST(Stripes, use_all_cables_of_both_hosts)
{
  for (const std::string& text :
       {std::string("kind = \"fat_tree\"\ndown = [8]\nup = [4]"),
        std::string("kind = \"fat_tree\"\ndown = [4, 2]\nup = [4, 2]"),
        std::string("kind = \"fat_tree\"\ndown = [4, 2]\nup = [2, 1]\ncables = [2, 1]"), RAILS})
    for (const std::string policy_name : {"static", "ecmp", "ecmp-message", "adaptive"}) {
      const auto topology = topology_of(text);
      RoutingModel model;
      model.policy      = policy_name;
      const auto policy = make_routing_policy(model, *topology);
      for (VertexId from = 0; from < topology->host_count(); ++from)
        for (VertexId to = 0; to < topology->host_count(); ++to) {
          if (from == to)
            continue;
          ASSERT_EQ(policy->cables_between(from, to), 4) << text;
          const auto [first, last] = ends_of_stripes(*topology, *policy, from, to, 4);
          EXPECT_EQ(first.size(), 4U) << text << policy_name << from << to;
          EXPECT_EQ(last.size(), 4U) << text << policy_name << from << to;
        }
    }
}

} // namespace
} // namespace weft
