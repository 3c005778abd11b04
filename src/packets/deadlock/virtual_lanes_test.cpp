// SPDX-License-Identifier: LGPL-2.1-only
#include "packets/deadlock/virtual_lanes.hpp"

#include "packets/deadlock/credit_cycles.hpp"
#include "packets/deadlock/link_dependencies.hpp"
#include "packets/packet_test.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace weft {
namespace {

Fabric lanes_fabric(const std::string& topology, const std::string& keys = "")
{
  return fabric_of(
      replaced(replaced(FABRIC, "kind = \"star\"\nhosts = 4", topology), "max_ports = 8", "max_ports = 64") +
      "[network]\nmodel = \"packets\"\npacket = '1000B'\n" + keys);
}

const std::string RING5     = "kind = \"torus\"\ndimensions = [5]";
const std::string TORUS     = "kind = \"torus\"\ndimensions = [4, 5, 3]";
const std::string DRAGONFLY = "kind = \"dragonfly\"\ngroups = 5\nrouters = 4\nhosts = 2";

/** Returns a cycle of (link, lane), as link * lanes + lane, over the routes between all hosts. */
std::vector<LinkId> cycle_with_lanes(const Fabric& fabric, const VirtualLanes& lanes)
{
  const int count = lanes.least();
  LinkDependencies all(fabric.links().size() * static_cast<std::size_t>(count));
  for (int from = 0; from < fabric.host_count(); ++from)
    for (int to = 0; to < fabric.host_count(); ++to) {
      if (from == to)
        continue;
      Route route;
      fabric.route(from, to, route);
      const std::vector<int> its = lanes.lanes(route.links);
      for (std::size_t hop = 1; hop < its.size(); ++hop)
        all.add(route.links[hop - 1] * count + its[hop - 1], route.links[hop] * count + its[hop]);
      EXPECT_LT(std::ranges::max(its), count);
      EXPECT_EQ(its.front(), 0);
    }
  return all.find_cycle();
}

TEST(VirtualLanes, RoutesWithLanesHaveNoCycle)
{
  for (const std::string& topology : {RING5, TORUS, DRAGONFLY}) {
    const Fabric fabric = lanes_fabric(topology);
    EXPECT_FALSE(find_credit_cycle(fabric.topology(), fabric.links().size(), false).empty()) << topology;
    const VirtualLanes lanes(fabric);
    EXPECT_EQ(lanes.least(), topology == DRAGONFLY ? 3 : 2) << topology;
    EXPECT_TRUE(cycle_with_lanes(fabric, lanes).empty()) << topology;
  }
}

TEST(VirtualLanes, RoutesWithoutCyclesNeedOne)
{
  EXPECT_EQ(VirtualLanes(packet_star(4, "")).least(), 1);
  EXPECT_EQ(VirtualLanes(lanes_fabric("kind = \"torus\"\ndimensions = [2, 2]")).least(), 1);
}

TEST(VirtualLanes, DetoursBeginAgainAboveTheLanesUsed)
{
  const Fabric fabric = lanes_fabric(RING5);
  const VirtualLanes lanes(fabric);
  Route there;
  fabric.route(0, 2, there);
  Route back;
  fabric.route(2, 0, back);
  std::vector<LinkId> detour(there.links.begin(), there.links.end() - 1); // without its host's links
  detour.insert(detour.end(), back.links.begin() + 1, back.links.end());
  const std::vector<int> its = lanes.lanes(detour);
  EXPECT_TRUE(std::ranges::is_sorted(its));
  EXPECT_LT(its.back(), 2 * lanes.least());
}

TEST(VirtualLanes, TooFewAreRefused)
{
  const std::string one = message_of([] { check_packets(lanes_fabric(RING5)); });
  EXPECT_NE(one.find("allowed: lanes = 2 or more, or flow_control = \"none\""), std::string::npos) << one;
  EXPECT_EQ(message_of([] { check_packets(lanes_fabric(RING5, "lanes = 2\n")); }), "");
  const std::string detours = "lanes = 2\n[routing]\npolicy = \"adaptive\"\n";
  const std::string two     = message_of([&] { check_packets(lanes_fabric(TORUS, detours)); });
  EXPECT_NE(two.find("[network] lanes: found 2, with which routes by \"adaptive\" can deadlock; allowed: 10 or more"),
            std::string::npos)
      << two;
}

/** Every host sends to the one that is two further on. */
std::vector<double> around_a_ring(const std::string& keys)
{
  std::vector<TestMessage> messages;
  for (int host = 0; host < 5; ++host)
    messages.push_back({host, (host + 2) % 5, 200000});
  return run_packets(lanes_fabric(RING5, keys), messages).times;
}

TEST(VirtualLanes, ARingDeadlocksWithoutThem)
{
  const std::vector<double> stuck = around_a_ring("buffer = '1000B'\nswitching = 'store-and-forward'\n");
  EXPECT_EQ(std::ranges::min(stuck), -1); // never arrives
  for (const std::string& keys : {std::string("lanes = 2\nbuffer = '2000B'\nswitching = 'store-and-forward'\n"),
                                  std::string("lanes = 2\nflow_control = 'pfc'\n")}) {
    const std::vector<double> times = around_a_ring(keys);
    EXPECT_GT(std::ranges::min(times), 200e-6) << keys;
    EXPECT_LT(std::ranges::max(times), 2e-3) << keys;
  }
}

} // namespace
} // namespace weft
