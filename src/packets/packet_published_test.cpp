// SPDX-License-Identifier: LGPL-2.1-only
/* Results that htsim's authors ship (ultraethernet/uet-htsim@40ccb05, validate_outputs), and of its RoCE with PFC
 * (Broadcom/csg-htsim@841d9e7, main_roce.cpp, run with the fat tree of 16 hosts). All times are in microseconds. */
#include "packets/packet_test.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace weft {
namespace {

constexpr double MICROSECOND = 1e-6;
constexpr double BYTES       = 2e6;               // 490 packets of 4,086 bytes and 64 of headers
constexpr double BACK        = 6 * (1 + 0.00512); // acknowledgement to the sender, where htsim's flows end

/** Fat tree of three levels with links of 100 Gb/s and 1 us, and switches that take no time. */
Fabric htsim_tree(const std::string& keys)
{
  std::string text =
      replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\ndown = [2, 2, 4]\nup = [1, 2, 2]");
  text = replaced(text, "bandwidth = \"1GBps\"", "bandwidth = \"100Gbps\"");
  text = replaced(text, "forwarding_latency = \"0.25us\"", "forwarding_latency = \"0us\"");
  // Every packet has headers, which the bandwidth factor stands for.
  text +=
      "[[point_to_point]]\nfrom = \"0B\"\nlatency_factor = 1.0\nbandwidth_factor = " + std::to_string(4086.0 / 4150) +
      "\n";
  return fabric_of(text + "[network]\nmodel = \"packets\"\npacket = \"4150B\"\nswitching = \"store-and-forward\"\n" +
                   keys);
}

std::vector<double> microseconds(const Fabric& fabric, const std::vector<TestMessage>& messages)
{
  std::vector<double> times = run_packets(fabric, messages).times;
  for (double& time : times)
    time /= MICROSECOND;
  return times;
}

TEST(PublishedPackets, OneFlow)
{
  const Fabric tree = htsim_tree("flow_control = 'pfc'\n");
  EXPECT_NEAR(microseconds(tree, {{0, 13, BYTES}})[0] + BACK, 176.208, 0.02);
  EXPECT_NEAR(microseconds(tree, {{0, 13, 10 * 4086.0}})[0] + BACK, 17.0107, 0.001);
  EXPECT_NEAR(microseconds(tree, {{0, 13, 100 * 4086.0}})[0] + BACK, 46.8907, 0.001);
}

TEST(PublishedPackets, BothDirections)
{
  const std::vector<double> times =
      microseconds(htsim_tree("flow_control = 'pfc'\n"), {{0, 13, BYTES}, {13, 0, BYTES}});
  EXPECT_NEAR(std::ranges::max(times) + BACK, 176.804, 0.7); // there, acknowledgements take bandwidth of data
}

// The page with the results does not name the senders: here, they are the nearest ones.
TEST(PublishedPackets, IncastsWithPauses)
{
  const Fabric tree             = htsim_tree("flow_control = 'pfc'\n");
  const std::vector<double> two = microseconds(tree, {{1, 0, BYTES}, {2, 0, BYTES}});
  EXPECT_NEAR(std::max(two[0] + BACK / 3, two[1] + BACK * 2 / 3), 331.341, 0.005 * 331.341); // 2 and 4 links
  std::vector<TestMessage> messages;
  for (int sender = 1; sender <= 8; ++sender)
    messages.push_back({sender, 0, BYTES});
  EXPECT_NEAR(std::ranges::max(microseconds(tree, messages)) + BACK, 1308.3, 0.005 * 1308.3);
}

TEST(PublishedPackets, ALastLinkIsFullWhateverTheThresholds)
{
  std::vector<TestMessage> messages;
  for (int sender = 1; sender <= 15; ++sender)
    messages.push_back({sender, 0, BYTES});
  std::vector<double> ends;
  for (const int packets : {15, 50, 120})
    ends.push_back(
        std::ranges::max(microseconds(htsim_tree("flow_control = 'pfc'\nxoff = '" + std::to_string(packets * 4150) +
                                                 "B'\nxon = '" + std::to_string((packets - 3) * 4150) + "B'\n"),
                                      messages)));
  EXPECT_NEAR(ends[1], ends[0], 1e-3);
  EXPECT_NEAR(ends[2], ends[0], 1e-3);
  EXPECT_NEAR(ends[0], 15 * 162.68, 0.005 * 15 * 162.68); // the bound that its authors print for 15 to 1
}

} // namespace
} // namespace weft
