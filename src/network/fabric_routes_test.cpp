// SPDX-License-Identifier: LGPL-2.1-only
#include "network/fabric_routes.hpp"

#include "fabric/fabric_test.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <vector>

namespace weft {
namespace {

constexpr int TO = 1; // host

class FabricRoutesTest : public testing::Test {
protected:
  const Fabric fabric_   = fabric_of(replaced(
      FABRIC, "[nic]\n", "[[point_to_point]]\nfrom = \"0B\"\nlatency_factor = 2.0\nbandwidth_factor = 0.5\n\n[nic]\n"));
  const VertexId switch_ = fabric_.host_count();
  FabricRoutes ways_{fabric_};

  FlowRoute find(int from, int to, double bytes)
  {
    FlowRoute way;
    ways_.find(from, to, Bytes(bytes), UNKNOWN_PART, way);
    return way;
  }
};

TEST_F(FabricRoutesTest, FactorsApplyBetweenHostsOnly)
{
  const FlowRoute hosts = find(0, TO, 1000);
  EXPECT_DOUBLE_EQ(hosts.latency, 2 * 2.25e-6); // latency of two cables and the switch
  EXPECT_DOUBLE_EQ(hosts.volume, 2000);
  EXPECT_EQ(hosts.resources.size(), 2U);
  const FlowRoute up = find(0, switch_, 1000);
  EXPECT_DOUBLE_EQ(up.latency, 1e-6);
  EXPECT_DOUBLE_EQ(up.penalty, 1e-6);
  EXPECT_DOUBLE_EQ(up.volume, 1000);
  EXPECT_DOUBLE_EQ(up.bound, 1e9);
  EXPECT_EQ(up.resources, (std::vector<int>{hosts.resources.front()}));
  EXPECT_EQ(find(switch_, TO, 1000).resources, (std::vector<int>{hosts.resources.back()}));
}

// Two sockets: a message of a program whose ranks' sockets are unknown loads both equally. The message is copied twice.
TEST(FabricRoutesSockets, UnknownSocketsAreLoadedAlike)
{
  const Fabric fabric =
      fabric_of(replaced(FABRIC, "cores = 2\n", "cores = 2\nsockets = 2\nmemory_bandwidth = \"4GBps\"\n"));
  EXPECT_EQ(FabricRoutes::capacities(fabric).size(), fabric.links().size() + 2U * 4);
  FabricRoutes ways(fabric);
  FlowRoute way;
  const auto find = [&](Bytes bytes, double missed, int from_socket, int to_socket) {
    way.resources.clear();
    ways.find_on_sockets({1, 1, from_socket, to_socket, bytes, missed}, way);
    return way.resources;
  };
  const int first = static_cast<int>(fabric.links().size()) + 2; // memory of host 1, socket 0
  ways.find(1, 1, Bytes(1000), UNKNOWN_PART, way);
  EXPECT_EQ(way.resources, (std::vector<int>{first, first + 1}));
  EXPECT_DOUBLE_EQ(way.volume, 1000); // two copies over two sockets
  EXPECT_DOUBLE_EQ(way.bound, 10e9);
  EXPECT_EQ(find(Bytes(1016), 1, 0, 0), (std::vector<int>{first, first}));
  EXPECT_EQ(find(Bytes(1016), 1, 1, 0), (std::vector<int>{first + 1, first}));
  EXPECT_EQ(find(Bytes(1016), 0, 1, 0), std::vector<int>());
}

/** Records when messages arrive. */
class ArrivalTimes : public Receiving {
  const Agenda& agenda_;

public:
  std::map<std::uint64_t, double> times;
  explicit ArrivalTimes(const Agenda& agenda) : agenda_(agenda) {}
  void arrived(std::uint64_t message) override { times[message] = agenda_.now().value(); }
};

TEST_F(FabricRoutesTest, EmptyMessagesToSwitchesTakeTheLatency)
{
  Agenda agenda;
  ArrivalTimes arrivals(agenda);
  FlowNetwork network(agenda, ways_, FabricRoutes::capacities(fabric_), switch_ + 1);
  network.send(0, switch_, Bytes(), UNKNOWN_PART, arrivals, 1);
  network.send(0, switch_, Bytes(1000), UNKNOWN_PART, arrivals, 2);
  network.send(switch_, 0, Bytes(), UNKNOWN_PART, arrivals, 3);
  agenda.run_until(Seconds(1));
  EXPECT_DOUBLE_EQ(arrivals.times.at(1), 1e-6);
  EXPECT_DOUBLE_EQ(arrivals.times.at(2), 2e-6);
  EXPECT_DOUBLE_EQ(arrivals.times.at(3), 1e-6);
}

constexpr double FABRIC_BANDWIDTH = 1e9;
constexpr double MESSAGE          = 1e6;
constexpr double ALONE            = MESSAGE / FABRIC_BANDWIDTH;
constexpr double TWO_LEVELS       = 4 * 1e-6 + 3 * 0.25e-6; // latency of links and switches from leaf to leaf

/** Returns a fabric of two leaves, each with @p down hosts and @p up uplinks to one spine each. */
Fabric two_leaves(int down, int up, const std::string& routing)
{
  return fabric_of(replaced(
      replaced(FABRIC, "kind = \"star\"\nhosts = 4",
               "kind = \"fat_tree\"\ndown = [" + std::to_string(down) + ", 2]\nup = [1, " + std::to_string(up) + "]"),
      "[host]\n", "[routing]\n" + routing + "\n[host]\n"));
}

/** Messages of one size on a fabric, started at given times. */
class RoutedMessages {
  const Fabric& fabric_;
  Agenda agenda_;
  FabricRoutes ways_;
  FlowNetwork network_;
  ArrivalTimes arrivals_{agenda_};

public:
  explicit RoutedMessages(const Fabric& fabric)
      : fabric_(fabric), ways_(fabric),
        network_(agenda_, ways_, FabricRoutes::capacities(fabric), fabric.host_count() + fabric.switch_count())
  {
  }
  FlowNetwork& network() { return network_; }
  ArrivalTimes& arrivals() { return arrivals_; }
  void send(int from, int to, std::uint64_t number)
  {
    network_.send(from, to, Bytes(MESSAGE), UNKNOWN_PART, arrivals_, number);
  }
  void run_until(double time) { agenda_.run_until(Seconds(time)); }
  double arrival(std::uint64_t number)
  {
    run_until(1);
    return arrivals_.times.at(number);
  }
};

/** Returns the link by which ECMP's message from @p from leaves its leaf. */
LinkId uplink(const Fabric& fabric, int from, int to)
{
  Route route;
  make_routing_policy(fabric.routing(), fabric.topology())->route(from, to, route);
  return route.links[1];
}

TEST(FabricRoutes, flows_that_ecmp_puts_on_one_uplink_get_half_each)
{
  int together = 0;
  for (int seed = 1; seed <= 12; ++seed) {
    const Fabric fabric = two_leaves(2, 2, "policy = \"ecmp\"\nseed = " + std::to_string(seed));
    RoutedMessages messages(fabric);
    messages.send(0, 2, 0);
    messages.send(1, 3, 1);
    const bool collide = uplink(fabric, 0, 2) == uplink(fabric, 1, 3);
    together += collide ? 1 : 0;
    const double expected = TWO_LEVELS + (collide ? 2 : 1) * ALONE;
    EXPECT_NEAR(messages.arrival(0), expected, 1e-9 * expected) << seed;
    EXPECT_NEAR(messages.arrival(1), expected, 1e-9 * expected) << seed;
  }
  EXPECT_GT(together, 0);
  EXPECT_LT(together, 12);
}

TEST(FabricRoutes, equal_messages_are_coalesced_only_if_their_routes_are_equal)
{
  for (const auto& [policy, flows] :
       {std::pair("ecmp", 1U), std::pair("spray", 1U), std::pair("ecmp-message", 4U), std::pair("adaptive", 4U)}) {
    const Fabric fabric = two_leaves(2, 4, std::string("policy = \"") + policy + '"');
    RoutedMessages messages(fabric);
    for (std::uint64_t number = 0; number < 4; ++number)
      messages.send(0, 2, number);
    EXPECT_EQ(messages.network().work().flows, flows) << policy;
    EXPECT_NEAR(messages.arrival(3), TWO_LEVELS + 4 * ALONE, 1e-9 * ALONE) << policy; // limited by the host's own link
  }
}

TEST(FabricRoutes, sprayed_flows_share_the_sum_of_the_uplinks)
{
  for (const auto& [hosts, uplinks] : {std::pair(4, 4), std::pair(4, 2), std::pair(6, 2), std::pair(3, 5)}) {
    const Fabric fabric = two_leaves(hosts, uplinks, "policy = \"spray\"");
    RoutedMessages messages(fabric);
    for (int host = 0; host < hosts; ++host)
      messages.send(host, hosts + host, static_cast<std::uint64_t>(host));
    const double expected = TWO_LEVELS + std::max(1., static_cast<double>(hosts) / uplinks) * ALONE;
    for (int host = 0; host < hosts; ++host)
      EXPECT_NEAR(messages.arrival(static_cast<std::uint64_t>(host)), expected, 1e-9 * expected)
          << hosts << " hosts, " << uplinks << " uplinks";
  }
}

TEST(FabricRoutes, a_sprayed_permutation_of_a_full_fat_tree_has_no_contention)
{
  const Fabric fabric = fabric_of(
      replaced(replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\ndown = [4, 4, 4]\nup = [1, 4, 4]"),
               "[host]\n", "[routing]\npolicy = \"spray\"\n[host]\n"));
  RoutedMessages messages(fabric);
  for (int host = 0; host < 64; ++host)
    messages.send(host, (host * 37 + 5) % 64, static_cast<std::uint64_t>(host));
  for (int host = 0; host < 64; ++host)
    EXPECT_LE(messages.arrival(static_cast<std::uint64_t>(host)), 6e-6 + 5 * 0.25e-6 + ALONE * (1 + 1e-9)) << host;
}

TEST(FabricRoutes, bytes_of_sprayed_messages_are_counted_equally_on_the_links_of_a_pool)
{
  const Fabric fabric = two_leaves(2, 4, "policy = \"spray\"");
  std::vector<double> counted(fabric.counted());
  Route route;
  fabric.route(0, 2, route);
  for (const LinkId link : route.links)
    counted[static_cast<std::size_t>(fabric.counted_as(link, 0, 2))] += 100;
  std::map<double, int> links;
  for (std::size_t link = 0; link < fabric.links().size(); ++link)
    ++links[fabric.bytes_on_link(static_cast<LinkId>(link),
                                 [&](int number) { return counted[static_cast<std::size_t>(number)]; })];
  EXPECT_EQ(links[100], 2); // links of the hosts
  EXPECT_EQ(links[25], 8);  // up from one leaf, down to the second leaf
  EXPECT_EQ(links[0], static_cast<int>(fabric.links().size()) - 10);
  EXPECT_EQ(fabric.counted_as(route.links[1], 0, fabric.host_count()),
            route.links[1]); // messages to switches are not sprayed
}

TEST(FabricRoutes, adaptive_routing_counts_flows_that_start_at_the_same_instant)
{
  for (int seed = 1; seed <= 12; ++seed) {
    const Fabric fabric = two_leaves(4, 4, "policy = \"adaptive\"\nseed = " + std::to_string(seed));
    RoutedMessages messages(fabric);
    for (int host = 0; host < 4; ++host)
      messages.send(host, 4 + host, static_cast<std::uint64_t>(host));
    for (int host = 0; host < 4; ++host)
      EXPECT_NEAR(messages.arrival(static_cast<std::uint64_t>(host)), TWO_LEVELS + ALONE, 1e-9 * ALONE) << seed;
  }
}

TEST(FabricRoutes, adaptive_routing_counts_other_flows_until_they_end)
{
  const Fabric fabric = two_leaves(2, 2, "policy = \"adaptive\"");
  std::vector<LinkId> ups; // uplinks of the first leaf
  for (std::size_t link = 0; link < fabric.links().size(); ++link)
    if (fabric.links()[link].from == fabric.host_count() && fabric.links()[link].to >= fabric.host_count())
      ups.push_back(static_cast<LinkId>(link));
  ASSERT_EQ(ups.size(), 2U);
  for (const LinkId busy : ups) {
    RoutedMessages messages(fabric);
    FlowRoute other;
    other.resources = {busy};
    other.volume    = 10 * MESSAGE;
    other.bound     = FABRIC_BANDWIDTH;
    other.latency   = 1e-3; // not on the link yet
    messages.network().start(other, Seconds(), messages.arrivals(), 100);
    for (std::uint64_t number = 0; number < 8; ++number) {
      messages.send(0, 2, number);
      messages.run_until(2e-3 * static_cast<double>(number + 1));
    }
    EXPECT_NEAR(messages.arrival(100), 1e-3 + 10 * ALONE, 1e-9 * ALONE); // undisturbed
    // Both links are free again: two flows take one link each.
    messages.send(0, 2, 101);
    messages.send(1, 3, 102);
    messages.run_until(3);
    EXPECT_NEAR(messages.arrivals().times.at(102) - messages.arrivals().times.at(101), 0, 1e-9 * ALONE);
    EXPECT_NEAR(messages.arrivals().times.at(102), 1 + TWO_LEVELS + ALONE, 1e-9);
  }
}

// ---- Hosts with several cables

class StripesTest : public testing::Test {
protected:
  static Fabric four_rails(const std::string& nic = "")
  {
    return fabric_of(
        replaced(replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\ndown = [8]\nup = [4]"), "[nic]\n",
                 "[nic]\n" + nic));
  }

  static FlowRoute find(MessageRoutes& routes, double bytes)
  {
    FlowRoute way;
    routes.find(0, 5, Bytes(bytes) + SMPI_ENVELOPE, UNKNOWN_PART, way);
    return way;
  }
};

TEST_F(StripesTest, ALongMessageUsesAllCables)
{
  const Fabric fabric = four_rails();
  FabricRoutes routes(fabric);
  const FlowRoute way = find(routes, 1e6);
  EXPECT_EQ(std::set<int>(way.resources.begin(), way.resources.end()).size(), 8U);
  EXPECT_DOUBLE_EQ(way.volume, (1e6 + SMPI_ENVELOPE.value()) / 4);
  EXPECT_DOUBLE_EQ(way.latency, 2.25e-6);
  EXPECT_DOUBLE_EQ(way.bound, 1e9);
  EXPECT_FALSE(routes.repeats());
}

TEST_F(StripesTest, EachStripeHasItsLeastSize)
{
  const Fabric fabric = four_rails("least_stripe = \"1000B\"\n");
  FabricRoutes routes(fabric);
  for (const auto& [bytes, stripes] :
       std::map<double, std::size_t>{{1999, 1}, {2000, 2}, {3999, 3}, {9000, 4}, {10, 1}}) {
    const FlowRoute way = find(routes, bytes);
    EXPECT_EQ(way.resources.size(), 2 * stripes) << bytes;
    EXPECT_DOUBLE_EQ(way.volume * static_cast<double>(stripes), bytes + SMPI_ENVELOPE.value());
  }
}

TEST_F(StripesTest, AreAsManyAsTheNicHas)
{
  const Fabric fabric = four_rails("stripes = 2\n");
  FabricRoutes routes(fabric);
  EXPECT_EQ(find(routes, 1e6).resources.size(), 4U);
}

TEST_F(StripesTest, GoOverWhatIsUp)
{
  const Fabric fabric = four_rails();
  FabricState state(fabric);
  FabricRoutes routes(&state);
  const FlowRoute before = find(routes, 1e6);
  state.set_link(before.resources.front(), false);
  const FlowRoute after = find(routes, 1e6);
  EXPECT_EQ(after.resources.size(), 6U);
  EXPECT_EQ(std::ranges::count(after.resources, before.resources.front()), 0);
  EXPECT_DOUBLE_EQ(after.volume, (1e6 + SMPI_ENVELOPE.value()) / 3);
  state.set_link(before.resources.front(), true);
  EXPECT_EQ(find(routes, 1e6).resources, before.resources);
}

} // namespace
} // namespace weft
