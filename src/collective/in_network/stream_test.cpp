// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/in_network/stream.hpp"

#include "base/share.hpp"
#include "fabric/fabric_test.hpp"
#include "fabric/topology/star.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <numeric>
#include <sstream>
#include <utility>

#include <gtest/gtest.h>

namespace weft {
namespace {

TreeCall allreduce(double message)
{
  return {Movement::allreduce, Bytes(message), -1, {}};
}

StreamPlan plan(const Fabric& fabric, const ReductionTree& tree, const TreeCall& call)
{
  return plan_streams(fabric, tree, call, fabric.nic().offload_copy_rate);
}

/** Returns the duration on a quiet fabric after the last contribution. */
double duration(const Fabric& fabric, const ReductionTree& tree, double message)
{
  const StreamPlan planned = plan(fabric, tree, allreduce(message));
  Seconds longest;
  for (const SwitchPlan& its : planned.switches)
    for (const StreamFlow& flow : its.flows)
      longest = std::max(longest, flow.wire / flow.rate_limit);
  EXPECT_DOUBLE_EQ(longest.value(), planned.streaming.value());
  return planned.duration().value();
}

double base_latency(const Fabric& fabric, const ReductionTree& tree)
{
  return base_latency(fabric, tree, allreduce(1)).value();
}

/** Returns the tree over @p ranks ranks on each of the first @p hosts hosts. */
ReductionTree tree_over(const Fabric& fabric, int hosts, int ranks = 1)
{
  std::vector<VertexId> rank_hosts;
  for (VertexId host = 0; host < hosts; ++host)
    rank_hosts.insert(rank_hosts.end(), static_cast<std::size_t>(ranks), host);
  return *build_reduction_tree(fabric, rank_hosts, 0).tree;
}

/** Returns the duration computed from the numbers of FABRIC alone: 100 B of payload and 25 B of overhead per packet, 4
 * slots, 1 GB/s. */
double closed_form(double message, int ranks)
{
  const double rate     = 1e9 / ranks;
  const double packets  = std::ceil(message / 100);
  const double windows  = std::floor((packets - 1) / 4);
  const double rest     = message - windows * 400;
  const double last     = (rest + 25 * std::ceil(rest / 100)) / rate;
  const double overhead = 2e-6;
  const double link     = 1e-6;
  const double gap      = 0.5e-6;
  return overhead + 2 * link + 3e-6 + (ranks - 1) * gap + windows * std::max(9e-6, 500 / rate) + last;
}

TEST(Stream, OnAStarIsTheClosedForm)
{
  const Fabric fabric = fabric_of(FABRIC);
  for (const int hosts : {2, 3, 4})
    for (const int ranks : {1, 2, 3, 20}) { // with 20, a window takes longer than the turnaround
      const ReductionTree tree = tree_over(fabric, hosts, ranks);
      for (const double message : {1., 4., 99., 100., 101., 399., 400., 401., 800., 801., 4096., 1048576., 1e9}) {
        const double expected = closed_form(message, ranks);
        EXPECT_NEAR(duration(fabric, tree, message), expected, expected * 1e-12)
            << hosts << " hosts, " << ranks << " ranks each, " << message << " B";
      }
    }
}

TEST(Stream, BaseLatencyHasAllItsParts)
{
  const Fabric fabric = fabric_of(FABRIC);
  EXPECT_DOUBLE_EQ(base_latency(fabric, tree_over(fabric, 4)), 7e-6);
  EXPECT_DOUBLE_EQ(base_latency(fabric, tree_over(fabric, 4, 3)), 8e-6);
  const auto without = [](const std::string& line) { // set to 0s
    const std::string key = line.substr(0, line.find('='));
    const Fabric changed  = fabric_of(replaced(FABRIC, line, key + "= \"0s\""));
    return base_latency(changed, tree_over(changed, 4, 3));
  };
  EXPECT_DOUBLE_EQ(without("offload_overhead = \"2us\""), 6e-6);
  EXPECT_DOUBLE_EQ(without("message_gap = \"0.5us\""), 7e-6);
  EXPECT_DOUBLE_EQ(without("processing_latency = \"3us\""), 5e-6);
  EXPECT_DOUBLE_EQ(without("forwarding_latency = \"0.25us\""), 8e-6); // there is no switch that only forwards
  EXPECT_DOUBLE_EQ(without("turnaround = \"9us\""), 8e-6);
  EXPECT_DOUBLE_EQ(without("latency = \"0.1us\""), 8e-6); // latency of the loopback
}

TEST(Stream, WireIsOneContributionInWholeBytes)
{
  const Fabric fabric = fabric_of(FABRIC);
  for (const double message : {1., 100., 101., 12345.}) {
    const StreamPlan planned = plan(fabric, tree_over(fabric, 4, 2), allreduce(message));
    ASSERT_EQ(planned.switches.size(), 1);
    ASSERT_EQ(planned.switches[0].flows.size(), 1);
    EXPECT_EQ(planned.switches[0].flows[0].wire.value(), message + 25 * std::ceil(message / 100));
  }
}

TEST(Stream, IsNoFasterThanTheHostCopies)
{
  const Fabric fabric      = fabric_of(replaced(FABRIC, "[nic]", "[nic]\noffload_copy_rate = \"20MBps\""));
  const ReductionTree tree = tree_over(fabric, 4);
  for (const double message : {4., 400., 1e6})
    EXPECT_DOUBLE_EQ(duration(fabric, tree, message), 7e-6 + message / 20e6);
}

TEST(Stream, IsAsFastAsItsSlowestLinkEitherWay)
{
  const Fabric fabric      = fabric_of(FABRIC + "[[links]]\nmatch = 'host-1'\nbandwidth = '10MBps'\n");
  const ReductionTree with = tree_over(fabric, 2);
  EXPECT_DOUBLE_EQ(duration(fabric, with, 400), 7e-6 + 500 / 10e6);
  const ReductionTree without = *build_reduction_tree(fabric, std::vector<VertexId>{0, 2}, 0).tree;
  EXPECT_DOUBLE_EQ(duration(fabric, without, 400), 7e-6 + 500 / 1e9);
}

TEST(Stream, IsAsFastAsTheSlowerDirection)
{
  for (const LinkId slow : {0, 1}) { // up and down of host 0
    FabricParts parts;
    parts.switches = {fabric_of(FABRIC).switch_model(0)};
    for (const auto& [from, to] : {std::pair(0, 2), {2, 0}, {1, 2}, {2, 1}})
      parts.links.push_back({"", from, to, BytesPerSecond(1e9), Seconds()});
    parts.links[static_cast<std::size_t>(slow)].bandwidth = BytesPerSecond(10e6);
    parts.topology                                        = std::make_unique<Star>(2);
    const Fabric fabric                                   = Fabric(std::move(parts));
    EXPECT_DOUBLE_EQ(duration(fabric, tree_over(fabric, 2), 400), 3e-6 + 500 / 10e6);
  }
}

TEST(Stream, OverTwoLevelsWaitsForTheLongerRoundTrip)
{
  const Fabric fabric =
      fabric_of(replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\ndown = [2, 2]\nup = [1, 1]"));
  const ReductionTree tree = tree_over(fabric, 4);
  EXPECT_EQ(plan(fabric, tree, allreduce(100)).switches.size(), 3);
  EXPECT_DOUBLE_EQ(base_latency(fabric, tree), 2e-6 + 8e-6 + 2.25e-6);
  EXPECT_DOUBLE_EQ(duration(fabric, tree, 400), 12.25e-6 + 500 / 1e9);
  // Each further window takes a turnaround of 9 us plus 5.25 us, by which the route is longer than over one switch.
  EXPECT_NEAR(duration(fabric, tree, 800), 12.25e-6 + 14.25e-6 + 500 / 1e9, 1e-15);
}

// Eight parts of 10 B are eight packets, each in one of four slots: two windows, although all parts would fit into one
// packet. A host's cable carries its two ranks' contributions to seven parts each.
TEST(Stream, EachPartOfAReduceScatterTakesSlotsOfItsOwn)
{
  const Fabric fabric = fabric_of(FABRIC);
  const TreeCall call{Movement::reduce_scatter, Bytes(80), -1, std::vector<double>(8, 10)};
  const double on_cable = 14 * (10 + 25) / 1e9;
  EXPECT_NEAR(plan(fabric, tree_over(fabric, 4, 2), call).duration().value(), 7.5e-6 + 9e-6 + on_cable / 2, 1e-15);
}

// If the link is faster, the window alone determines a Reduce_scatter's rate: `slots` packets per turnaround, which on
// two levels includes the route between the switches. Store and forward has no window and can be faster.
TEST(Stream, AReduceScatterOverTwoLevelsHasAWindowEachTurnaround)
{
  const Fabric fabric =
      fabric_of(replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\ndown = [2, 2]\nup = [1, 1]"));
  const ReductionTree tree = tree_over(fabric, 4);
  const double part        = 100 * 1000;
  const TreeCall call{Movement::reduce_scatter, Bytes(4 * part), -1, std::vector<double>(4, part)};
  const double turnaround = 9e-6 + 5.25e-6;
  const double on_cable   = 3 * 1000 * 125 / 1e9;
  const double windows    = 4 * 1000 / 4;
  EXPECT_NEAR(plan(fabric, tree, call).streaming.value(), (windows - 1) * turnaround + on_cable / windows, 1e-12);
}

// ---- Comparison with the testbed

struct Measured {
  double bytes;
  double seconds;
};

/** Returns the columns bytes and mpitofino_us of the measured table. */
std::vector<Measured> measured()
{
  std::ifstream file(share_directory() + "/data/tofino_micro_allreduce_4x1.csv");
  std::vector<Measured> rows;
  bool header = true;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#'))
      continue;
    if (std::exchange(header, false)) {
      EXPECT_EQ(line.find("bytes,mpitofino_us,"), 0) << line;
      continue;
    }
    Measured row{};
    char comma = ' ';
    std::istringstream(line) >> row.bytes >> comma >> row.seconds;
    row.seconds *= 1e-6;
    rows.push_back(row);
  }
  return rows;
}

TEST(Stream, ReproducesTheTestbed)
{
  const Fabric fabric      = Fabric::load("tofino-4");
  const ReductionTree tree = tree_over(fabric, 4);
  std::vector<double> errors;
  for (const Measured& row : measured())
    errors.push_back(std::abs(std::log(duration(fabric, tree, row.bytes) / row.seconds)));
  ASSERT_EQ(errors.size(), 7);
  const double mean = std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
  EXPECT_LE(std::expm1(mean), 0.02);
  EXPECT_LE(std::expm1(*std::ranges::max_element(errors)), 0.05);
}

// Belbeisi et al. (CF '26), figure 5: 1 KiB takes the same time on 4 to 16 hosts.
TEST(Stream, DoesNotGrowWithTheHosts)
{
  const Fabric fabric = Fabric::load("tofino-16");
  const double four   = duration(fabric, tree_over(fabric, 4), 1024);
  for (int hosts = 5; hosts <= 16; ++hosts)
    EXPECT_DOUBLE_EQ(duration(fabric, tree_over(fabric, hosts), 1024), four);
}

// The switch takes its k children's packets sequentially, at its own rate.
TEST(Stream, AnAggregationRateIsSharedByTheContributions)
{
  const Fabric fabric = fabric_of(replaced(FABRIC, "turnaround = \"9us\"", "aggregation_rate = \"400MBps\""));
  for (const int hosts : {2, 3, 4}) {
    const ReductionTree tree = tree_over(fabric, hosts);
    for (const double message : {100., 400., 1000.}) {
      const double expected = 7e-6 + message * hosts / 400e6;
      EXPECT_NEAR(duration(fabric, tree, message), expected, expected * 1e-12)
          << hosts << " hosts, " << message << " B";
    }
  }
}

TEST(Stream, LargeReductionsStreamWithoutSlots)
{
  const Fabric fabric =
      fabric_of(replaced(FABRIC, "turnaround = \"9us\"",
                         "turnaround = \"9us\"\naggregation_rate = \"100MBps\"\nstreaming_from = \"1000B\""));
  const ReductionTree tree = tree_over(fabric, 4);
  EXPECT_NEAR(duration(fabric, tree, 1000), 7e-6 + (1000 + 10 * 25) / 1e9, 1e-18);
  EXPECT_NEAR(duration(fabric, tree, 900), 7e-6 + 900 * 4 / 100e6, 1e-15);
  TreeCall refused = allreduce(1000);
  refused.streams  = false;
  EXPECT_NEAR(plan(fabric, tree, refused).duration().value(), 7e-6 + 1000 * 4 / 100e6, 1e-15);
}

/** Returns the time of an Allreduce of 10 packets on 4 hosts, of which the fraction @p part finds no free slot. */
double passing_on(const Fabric& fabric, double part)
{
  TreeCall call  = allreduce(1000);
  call.passed_on = part;
  return plan(fabric, tree_over(fabric, 4), call).duration().value();
}

// The server's link carries packets without a slot once for each other member. The route from the switch to the server
// and back takes 1 us down, the server's overhead and 1.25 us up.
TEST(Stream, WhatFindsNoSlotGoesThroughTheServer)
{
  const Fabric fabric = fabric_of(replaced(FABRIC, "turnaround = \"9us\"", "turnaround = \"0us\""));
  for (const double part : {0., 0.25, 0.5, 1.}) {
    const double latency  = 4.25e-6 * (1 - std::pow(1 - part, 10));
    const double expected = 7e-6 + latency + (1 - part + 3 * part) * 1250 / 1e9;
    EXPECT_NEAR(passing_on(fabric, part), expected, expected * 1e-12) << part;
  }
}

TEST(Stream, TheServerAddsUpAtItsHostsRate)
{
  const Fabric fabric = fabric_of(replaced(replaced(FABRIC, "turnaround = \"9us\"", "turnaround = \"0us\""), "[host]",
                                           "[host]\nreduction_rate = \"100MBps\""));
  EXPECT_NEAR(passing_on(fabric, 1), 7e-6 + 4.25e-6 + 3 * 1000 / 100e6, 1e-17);
}

TEST(Stream, TheRootOfAReduceIsTheServer)
{
  const Fabric fabric = fabric_of(replaced(FABRIC, "turnaround = \"9us\"", "turnaround = \"0us\""));
  TreeCall call{Movement::reduce, Bytes(1000), 2, {}};
  call.passed_on = 0.5;
  EXPECT_NEAR(plan(fabric, tree_over(fabric, 4), call).duration().value(), 7e-6 + (0.5 + 1.5) * 1250 / 1e9, 1e-17);
}

TEST(Stream, ACallCostsTheLibraryWhatTheNicSays)
{
  const Fabric fabric      = fabric_of(replaced(FABRIC, "[link]", R"(packet_copy_rate = "200MBps"
part_copy_rate = "1GBps"
registration_rate = "500MBps"
registration_from = "600B"

[[nic.calls]]
from = "500B"
offload_overhead = "4us"
offload_copy_rate = "10MBps"

[link])"));
  const ReductionTree tree = tree_over(fabric, 4);
  const auto took          = [&](double message, double copied) {
    TreeCall call = allreduce(message);
    call.copied   = Bytes(copied);
    return plan_streams(fabric, tree, call, fabric.nic().costs(Bytes(message)).offload_copy_rate).duration().value();
  };
  // At most one packet of 100 B is copied before the rest.
  EXPECT_NEAR(took(40, 0), 7e-6 + 40 / 200e6 + 65 / 1e9, 1e-15);
  EXPECT_NEAR(took(300, 0), 7e-6 + 100 / 200e6 + 375 / 1e9, 1e-15);
  EXPECT_NEAR(took(500, 0), 9e-6 + 500 / 10e6, 1e-12);
  EXPECT_NEAR(took(500, 125) - took(500, 0), 125 / 1e9, 1e-15);
  EXPECT_NEAR(took(600, 150) - took(600, 0), 150 / 1e9 + 600 / 500e6, 1e-15);
}

TEST(Stream, TreesOfRailsTakeTheirPartOfTheTime)
{
  const Fabric fabric =
      fabric_of(replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\ndown = [4]\nup = [4]"));
  const auto trees = build_reduction_trees(fabric, std::vector<VertexId>{0, 1, 2, 3}, 0, 4);
  ASSERT_EQ(trees.size(), 4U);
  const TreeCall whole = allreduce(64000);
  const StreamPlan one = plan(fabric, trees[0], whole);
  for (const ReductionTree& tree : trees) {
    const StreamPlan part = plan(fabric, tree, divided(whole, 4));
    EXPECT_DOUBLE_EQ(part.base_latency.value(), one.base_latency.value());
    EXPECT_DOUBLE_EQ(part.streaming.value(), plan(fabric, trees[0], allreduce(16000)).streaming.value());
  }
}

TEST(Stream, TreesOfOneSwitchShareItsSlots)
{
  const std::string text =
      replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\ndown = [4]\nup = [1]\ncables = [4]");
  const Fabric fabric = fabric_of(replaced(text, "max_ports = 8", "max_ports = 64"));
  const auto trees    = build_reduction_trees(fabric, std::vector<VertexId>{0, 1, 2, 3}, 0, 4);
  ASSERT_EQ(trees.size(), 4U);
  // One slot per tree: one packet per turnaround of 9 us.
  EXPECT_NEAR(plan(fabric, trees[2], divided(allreduce(64000), 4)).streaming.value(), 159 * 9e-6 + 125e-9, 1e-12);
}

TEST(Stream, EachTreeGetsAPacketOfEveryPart)
{
  const Bytes payload(100);
  EXPECT_EQ(trees_for(allreduce(0), payload, 4), 1);
  EXPECT_EQ(trees_for(allreduce(100), payload, 4), 1);
  EXPECT_EQ(trees_for(allreduce(101), payload, 4), 2);
  EXPECT_EQ(trees_for(allreduce(1e6), payload, 4), 4);
  TreeCall parts = allreduce(400);
  parts.parts    = {100, 300};
  EXPECT_EQ(trees_for(parts, payload, 4), 3);
}

} // namespace
} // namespace weft
