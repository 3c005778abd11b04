// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/topology/custom.hpp"

#include "fabric/topology/fat_tree.hpp"
#include "fabric/topology/topology_test.hpp"

#include <random>

#include <gtest/gtest.h>

namespace weft {
namespace {

std::vector<std::string> named(const std::string& name, int count)
{
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(count));
  for (int index = 0; index < count; ++index)
    names.push_back(numbered(name, index, count));
  return names;
}

/** Returns a random connected graph: a tree of switches plus some cables, and hosts with one or two cables. */
Custom random_custom(unsigned seed)
{
  std::mt19937 random(seed);
  const auto below   = [&random](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  const int hosts    = 2 + below(20);
  const int switches = 2 + below(12);
  std::map<std::pair<VertexId, VertexId>, int> numbers;
  Custom::Graph graph{named("host", hosts), named("switch", switches), {}};
  const auto add = [&](VertexId lower, VertexId upper) {
    graph.cables.push_back({lower, upper, numbers[std::minmax(lower, upper)]++});
  };
  for (int index = 1; index < switches; ++index)
    add(hosts + below(index), hosts + index);
  for (int more = below(2 * switches); more > 0; --more)
    if (const int one = below(switches), other = below(switches); one != other)
      add(hosts + one, hosts + other);
  for (VertexId host = 0; host < hosts; ++host)
    for (int nic = below(2); nic >= 0; --nic)
      add(host, hosts + below(switches));
  return Custom(std::move(graph));
}

TEST(Custom, routes_in_random_graphs_are_right_and_shortest)
{
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Custom custom = random_custom(seed);
    ASSERT_FALSE(custom.find_gap());
    TopologyCheck check(custom);
    check.check_all();
    check.check_minimal();
    check.check_equal_hops(true);
  }
}

TEST(Custom, large_graphs_are_right_with_evicted_tables)
{
  const FatTree tree({{16, 16, 16}, {1, 16, 16}, {1, 1, 1}});
  std::vector<std::string> switches;
  switches.reserve(static_cast<std::size_t>(tree.switch_count()));
  for (int index = 0; index < tree.switch_count(); ++index)
    switches.push_back(tree.switch_name(index));
  const Custom custom({named("host", tree.host_count()), std::move(switches), tree.cables()});
  EXPECT_EQ(custom.diameter(), tree.diameter());
  TopologyCheck(custom).check_sample(1, 100);
}

std::string cable(const std::string& one, const std::string& other, const std::string& more = "")
{
  return "[[topology.cables]]\nbetween = [\"" + one + "\", \"" + other + "\"]\n" + more + "\n";
}

std::string two_leaves(const std::string& more)
{
  return R"(kind = "custom"
            hosts = ["a", "b", "c"]
            switches = ["left", "right", "detour"]
           )" +
         cable("left", "a") + cable("b", "left") + cable("c", "right") + cable("detour", "right") +
         cable("left", "detour") + more;
}

/** Returns the beginning of a fabric file, with the lists of hosts and switches. */
std::string with(const std::string& hosts, const std::string& switches)
{
  return "kind = \"custom\"\nhosts = " + hosts + "\n" + (switches.empty() ? "" : "switches = " + switches + "\n");
}

TEST(Custom, is_read_with_the_names_of_the_file)
{
  const auto custom = topology_of(two_leaves(cable("left", "right", "count = 2")));
  TopologyCheck check(*custom);
  check.check_all();
  EXPECT_EQ(custom->host_name(2), "c");
  EXPECT_EQ(custom->vertex_name(4), "right");
  EXPECT_EQ(custom->diameter(), 3);
  EXPECT_EQ(check.cables_between(3, 4), 2);
  EXPECT_EQ(custom->meeting_switches(std::vector<VertexId>{2, 0}), (std::vector<VertexId>{3, 4}));
}

TEST(Custom, the_first_cable_in_the_file_breaks_ties)
{
  const std::string diamond = with(R"(["a", "b"])", R"(["s", "t", "u", "v"])") + cable("a", "s") + cable("b", "v") +
                              cable("s", "u") + cable("s", "t") + cable("t", "v") + cable("u", "v");
  const auto custom         = topology_of(diamond);
  Route route;
  custom->route(0, 1, route);
  EXPECT_EQ(route.through, (std::vector<VertexId>{2, 4, 5}));
  route.clear();
  custom->route(1, 0, route);
  EXPECT_EQ(route.through, (std::vector<VertexId>{5, 3, 2}));
}

TEST(Custom, destinations_spread_over_parallel_cables)
{
  const auto custom = topology_of(with(R"(["a", "b", "c", "d"])", R"(["s", "t"])") + cable("a", "s") + cable("b", "s") +
                                  cable("c", "t") + cable("d", "t") + cable("s", "t", "count = 2\n"));
  EXPECT_EQ(TopologyCheck(*custom).busiest_link(2), 1);
}

TEST(Custom, rails_need_no_cable_between_them)
{
  const auto custom = topology_of(with(R"(["a", "b"])", R"(["s", "t"])") + cable("a", "s") + cable("b", "s") +
                                  cable("a", "t") + cable("b", "t"));
  TopologyCheck(*custom).check_all();
}

TEST(Custom, two_hosts_reach_each_other_by_a_cable_of_their_own)
{
  const auto alone = topology_of(with(R"(["a", "b"])", "") + cable("b", "a"));
  EXPECT_EQ(alone->diameter(), 1);
  EXPECT_EQ(alone->next_hop(0, 1).to, 1);
  EXPECT_EQ(alone->next_hop(1, 0).to, 0);
  const std::vector<VertexId> both{0, 1};
  EXPECT_TRUE(alone->meeting_switches(both).empty());
  // The direct cable is shorter than the path through the switch, and only the route between its ends uses it.
  const auto beside = topology_of(with(R"(["a", "b", "c"])", R"(["s"])") + cable("a", "s") + cable("b", "s") +
                                  cable("c", "s") + cable("a", "b"));
  Route route;
  beside->route(0, 1, route);
  EXPECT_EQ(route.links, (std::vector<LinkId>{6}));
  route.clear();
  beside->route(2, 1, route);
  EXPECT_EQ(route.through, (std::vector<VertexId>{3}));
  EXPECT_EQ(beside->diameter(), 2);
  EXPECT_EQ(beside->meeting_switches(both), (std::vector<VertexId>{3}));
  EXPECT_EQ(failure_of(with(R"(["a", "b", "c"])", R"(["s"])") + cable("a", "b") + cable("b", "s") + cable("c", "s")),
            "[topology] cables: there is no route from \"a\" to \"c\"; hosts do not forward packets");
}

TEST(Custom, hosts_forward_without_switches)
{
  const std::string four = with(R"(["a", "b", "c", "d"])", "") + cable("a", "b") + cable("c", "d");
  const auto ring        = topology_of(four + cable("b", "c") + cable("d", "a"));
  EXPECT_TRUE(ring->hosts_forward());
  EXPECT_EQ(ring->diameter(), 2);
  Route route;
  for (VertexId from = 0; from < 4; ++from)
    for (const int distance : {1, 2, 3}) {
      route.clear();
      ring->route(from, (from + distance) % 4, route);
      EXPECT_EQ(route.links.size(), distance == 2 ? 2U : 1U);
      EXPECT_TRUE(route.through.empty());
    }
  EXPECT_EQ(failure_of(four), "[topology] cables: there is no route from \"a\" to \"c\"; add a cable");
}

TEST(Custom, wrong_cables_are_refused)
{
  EXPECT_EQ(failure_of(two_leaves(cable("left", "rght"))),
            "[topology.cables] between: found \"rght\", which is neither a host nor a switch; did you mean \"right\"?");
  EXPECT_EQ(failure_of(two_leaves(cable("a", "a"))),
            "[topology.cables] between: found \"a\" and \"a\"; allowed: two different ends");
  EXPECT_EQ(failure_of(two_leaves("[[topology.cables]]\nbetween = [\"a\"]\n")),
            "[topology.cables] between: found 1 names; allowed: two");
  EXPECT_EQ(failure_of(two_leaves(cable("a", "left", "count = 0"))),
            "[topology.cables] count: found 0; allowed: more than zero");
  EXPECT_EQ(failure_of(two_leaves(cable("a", "left", "count = 2000000000"))),
            "[topology.cables] count: makes a fabric of 2000000005 cables; allowed: at most 16777216");
}

TEST(Custom, names_that_are_not_unique_are_refused)
{
  EXPECT_EQ(failure_of(with(R"(["a", "b", "a"])", R"(["s"])")),
            "[topology] hosts: found \"a\" twice; allowed: unique names of hosts and switches");
  EXPECT_EQ(failure_of(with(R"(["a", "b"])", R"(["b"])")),
            "[topology] switches: found \"b\" twice; allowed: unique names of hosts and switches");
}

TEST(Custom, names_of_links_and_of_weft_are_refused)
{
  const std::string allowed = "; allowed: names that do not begin with \"weft.\" and have no \"--\"";
  EXPECT_EQ(failure_of(with(R"(["weft.stream-0.from"])", R"(["s"])")),
            "[topology] hosts: found \"weft.stream-0.from\"" + allowed);
  EXPECT_EQ(failure_of(with(R"(["a"])", R"(["s", "s--t"])")), "[topology] switches: found \"s--t\"" + allowed);
}

TEST(Custom, unconnected_graphs_are_refused_with_a_pair)
{
  const std::string parts = with(R"(["a", "b", "c"])", R"(["s", "t"])") + cable("a", "s") + cable("b", "t");
  EXPECT_EQ(failure_of(parts), "[topology] hosts: \"c\" has no cable; list one with [[topology.cables]]");
  EXPECT_EQ(failure_of(parts + cable("c", "s")),
            "[topology] cables: there is no route from \"a\" to \"b\"; hosts do not forward packets");
  // "c" is connected to both switches, but hosts do not forward.
  EXPECT_EQ(failure_of(parts + cable("c", "s") + cable("c", "t")),
            "[topology] cables: there is no route from \"a\" to \"b\"; hosts do not forward packets");
  EXPECT_EQ(failure_of(with(R"(["a", "b"])", R"(["s", "t"])") + cable("a", "s") + cable("b", "s")),
            "[topology] cables: there is no route from \"a\" to \"t\"; hosts do not forward packets");
}

} // namespace
} // namespace weft
