// SPDX-License-Identifier: LGPL-2.1-only
/* Packets whose path each switch chooses, selective retransmission, and closed forms for both. */
#include "packets/load_balancer.hpp"

#include "packets/deadlock/credit_cycles.hpp"
#include "packets/packet_test.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace weft {
namespace {

constexpr double CABLE  = 1e-6;
constexpr double SWITCH = 0.25e-6;
constexpr double FULL   = 1e-6; // time of a packet of 1,000 bytes
constexpr int HOSTS     = 16;
constexpr int SPINES    = 4;
constexpr int PACKETS   = 1000; // of a message
constexpr double WAY    = 4 * CABLE + 3 * SWITCH + 3 * FULL;

const std::array BALANCERS{"spray", "shortest-queue"};
const std::array ALL_BALANCERS{"spray", "random", "shortest-queue"};

/** Non-blocking fat tree: four leaves with four hosts and four spines. */
Fabric tree_of_leaves(const std::string& keys)
{
  const std::string text =
      replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\ndown = [4, 4]\nup = [1, 4]");
  return fabric_of(text + "[network]\nmodel = \"packets\"\npacket = '1000B'\nswitching = 'store-and-forward'\n" + keys);
}

std::string balanced_by(const char* balancer)
{
  return "load_balancing = '" + std::string(balancer) + "'\n";
}

/** Every host sends to one of another leaf; @p shift is a multiple of the hosts of a leaf. */
std::vector<TestMessage> permutation(int shift)
{
  std::vector<TestMessage> messages;
  for (int host = 0; host < HOSTS; ++host)
    messages.push_back({host, (host + shift) % HOSTS, PACKETS * 1000.0});
  return messages;
}

// Each leaf and each spine gets as much as its links can take: only the first packets of a round meet.
TEST(LoadBalancer, APermutationOnANonBlockingTreeReachesLineRate)
{
  const double bound = PACKETS * FULL + WAY;
  for (const int shift : {4, 8, 12}) {
    for (const char* const balancer : BALANCERS) {
      const TestRun run = run_packets(tree_of_leaves(balanced_by(balancer)), permutation(shift));
      EXPECT_GE(std::ranges::min(run.times), bound - 1e-12) << balancer;
      EXPECT_LE(std::ranges::max(run.times), bound + 2 * SPINES * FULL) << balancer;
      EXPECT_EQ(run.work.hops, 4U * HOSTS * PACKETS) << balancer;
    }
    const TestRun ecmp = run_packets(tree_of_leaves("[routing]\npolicy = 'ecmp'\n"), permutation(shift));
    EXPECT_GT(std::ranges::max(ecmp.times), 1.9 * bound); // two messages collide at least
  }
}

/** Returns the tree in which the cable at link @p hop of the route from host 0 to host 4 has an eighth of the rate. */
Fabric with_slow_cable(std::size_t hop, const std::string& keys)
{
  const Fabric tree = tree_of_leaves(keys);
  Route usual;
  tree.route(0, 4, usual);
  const std::string link = tree.link(usual.links[hop]).name;
  return tree_of_leaves(keys + "[[links]]\nmatch = '" + link.substr(0, link.find('.')) +
                        "'\nbandwidth = '0.125GBps'\n");
}

// A quarter of the packets cross the slow cable from a spine, whose queue the leaf does not see.
TEST(LoadBalancer, InTurnASlowCableGetsItsShare)
{
  const std::vector<TestMessage> one{{0, 4, PACKETS * 1000.0}};
  const TestRun run  = run_packets(with_slow_cable(2, balanced_by("spray")), one);
  const double bound = PACKETS / SPINES * 8 * FULL;
  EXPECT_NEAR(run.times[0], bound, 0.02 * bound);
  EXPECT_GT(run.work.overtaken, 0U);
}

// Queues at the spines stay short, as random hops load them evenly in the long run.
TEST(LoadBalancer, RandomHopsLoadSpinesEvenly)
{
  const double bound = PACKETS * FULL + WAY;
  const TestRun run  = run_packets(tree_of_leaves(balanced_by("random")), permutation(4));
  EXPECT_GT(std::ranges::min(run.times), bound);
  EXPECT_LT(std::ranges::max(run.times), 1.15 * bound); // four binomial loads of mean 1,000, with 3 deviations
  EXPECT_EQ(run.times, run_packets(tree_of_leaves(balanced_by("random")), permutation(4)).times);
  const TestRun slow = run_packets(with_slow_cable(2, balanced_by("random")), {{0, 4, PACKETS * 1000.0}});
  EXPECT_NEAR(slow.times[0], PACKETS / SPINES * 8 * FULL, 0.2 * PACKETS / SPINES * 8 * FULL);
}

// Three hosts share cables that take 3.125 messages at line rate.
TEST(LoadBalancer, TheShortestQueueAvoidsASlowCable)
{
  const std::vector<TestMessage> three{{0, 4, PACKETS * 1000.0}, {1, 5, PACKETS * 1000.0}, {2, 6, PACKETS * 1000.0}};
  const TestRun queue = run_packets(with_slow_cable(1, balanced_by("shortest-queue")), three);
  EXPECT_LT(std::ranges::max(queue.times), 1.05 * PACKETS * FULL);
  const TestRun spray = run_packets(with_slow_cable(1, balanced_by("spray")), three);
  EXPECT_GT(std::ranges::max(spray.times), 0.95 * 3 * PACKETS / SPINES * 8 * FULL);
}

TEST(LoadBalancer, LossyNetworksDeliverEachPacketOnce)
{
  const std::string lossy           = "flow_control = 'none'\nbuffer = '4kB'\nretransmission_timeout = '200us'\n";
  std::vector<TestMessage> messages = permutation(4);
  for (int sender = 4; sender < 8; ++sender)
    messages.push_back({sender, 0, 200000});
  for (const char* const balancer : ALL_BALANCERS)
    for (const std::string& control : {std::string("none"), std::string("swift"), std::string("dcqcn")}) {
      const std::string keys = lossy + "congestion_control = '" + control + "'\n" + balanced_by(balancer);
      const TestRun run      = run_packets(tree_of_leaves(keys), messages);
      EXPECT_GT(std::ranges::min(run.times), 0) << balancer << control;
      EXPECT_GT(run.work.dropped, 0U) << balancer << control;
      EXPECT_GE(run.work.sent_again, run.work.dropped) << balancer << control;
    }
}

// After a gap, the receiver names what it lacks: a packet is sent again for each that was dropped, and no other.
TEST(LoadBalancer, SelectiveRetransmissionRepeatsOnlyWhatWasLost)
{
  const std::string lossy = "flow_control = 'none'\nbuffer = '20kB'\nretransmission_timeout = '20ms'\n";
  std::vector<TestMessage> messages;
  for (int sender = 1; sender < 4; ++sender)
    messages.push_back({sender, 0, 200000});
  const TestRun selective =
      run_packets(packet_star(4, lossy + "packet = '1000B'\nretransmission = 'selective'\n"), messages);
  EXPECT_GT(std::ranges::min(selective.times), 0);
  EXPECT_GT(selective.work.dropped, 10U);
  EXPECT_EQ(selective.work.sent_again, selective.work.dropped);
  const TestRun goes_back = run_packets(packet_star(4, lossy + "packet = '1000B'\n"), messages);
  EXPECT_GT(goes_back.work.sent_again, goes_back.work.dropped);
}

TEST(LoadBalancer, LanesOfATorusAvoidDeadlock)
{
  const std::string torus = replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"torus\"\ndimensions = [4, 4]");
  const auto fabric       = [&](int lanes) {
    return fabric_of(torus + "[network]\nmodel = \"packets\"\npacket = '1000B'\nload_balancing = 'spray'\nlanes = " +
                     std::to_string(lanes) + "\nbuffer = '" + std::to_string(lanes) + "kB'\n");
  };
  const std::string refused = message_of([&] { check_packets(fabric(2)); });
  const std::size_t at      = refused.find("allowed: ");
  ASSERT_NE(at, std::string::npos) << refused;
  const int lanes = std::stoi(refused.substr(at + 9));
  EXPECT_EQ(message_of([&] { check_packets(fabric(lanes)); }), "");
  std::vector<TestMessage> messages;
  for (int host = 0; host < HOSTS; ++host)
    for (const int shift : {5, 7, 10})
      messages.push_back({host, (host + shift) % HOSTS, 100000});
  EXPECT_GT(std::ranges::min(run_packets(fabric(lanes), messages).times), 0);
}

TEST(LoadBalancer, RoutingThatBalancesTooIsRefused)
{
  const std::string said =
      message_of([] { check_packets(tree_of_leaves(balanced_by("spray") + "[routing]\npolicy = 'adaptive'\n")); });
  EXPECT_NE(said.find("[network] load_balancing: found \"spray\" with [routing] policy = \"adaptive\""),
            std::string::npos)
      << said;
  const std::string back = message_of([] { tree_of_leaves(balanced_by("spray") + "retransmission = 'go-back-n'\n"); });
  EXPECT_NE(back.find("retransmission: found \"go-back-n\", which rejects packets that overtake others"),
            std::string::npos)
      << back;
}

} // namespace
} // namespace weft
