// SPDX-License-Identifier: LGPL-2.1-only
/* Faults of a network of packets. */
#include "faults/recovery.hpp"

#include "packets/packet_test.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace weft {
namespace {

constexpr double PACKET_S  = 1e-6; // of a packet of 1,000 bytes
constexpr double WAY_S     = 2.25e-6;
constexpr double TIMEOUT_S = 50e-6;
const std::string PACKETS  = "packet = '1000B'\nswitching = 'store-and-forward'\n";

struct TestFault {
  double at; ///< seconds
  FabricChange change;
};

/** Faults of a network of packets in time, and the failures of messages. */
class FaultyPackets : public Due, public Receiving {
  std::vector<TestFault> faults_;
  Agenda agenda_;
  FabricState actual_;
  FabricState known_;
  LinkLosses losses_;
  const RecoveryModel model_;
  FabricRoutes routes_;
  FlowNetwork local_;
  PacketNetwork network_;
  Recovery recovery_;

public:
  std::map<std::uint64_t, double> times;
  std::map<std::uint64_t, std::string> failures;

  FaultyPackets(const Fabric& fabric, RecoveryModel model, std::vector<TestFault> faults)
      : faults_(std::move(faults)), actual_(fabric), known_(fabric), model_(model), routes_(&known_),
        local_(agenda_, routes_, FabricRoutes::capacities(fabric), fabric.host_count() + fabric.switch_count()),
        network_(agenda_, routes_, fabric, local_, &model_), recovery_(agenda_, local_, actual_, known_, model)
  {
    local_.lose_packets(losses_);
    network_.begin_faults(known_, losses_);
    recovery_.include(network_);
    for (std::size_t fault = 0; fault < faults_.size(); ++fault)
      agenda_.add(Seconds(faults_[fault].at), *this, fault);
  }
  void due(std::uint64_t fault) override { recovery_.apply({faults_[fault].change}); }
  void arrived(std::uint64_t message) override { times[message] = agenda_.now().value(); }
  void failed(std::uint64_t message, const std::string& why) override { failures[message] = why; }
  void run(const std::vector<TestMessage>& messages)
  {
    const TestSenders senders(agenda_, network_, messages, *this);
    while (agenda_.next() < Seconds(1) && times.size() + failures.size() < messages.size())
      agenda_.run_until(agenda_.next());
  }
  RecoveryCounts counts() const { return recovery_.counts(); }
  const PacketWork& work() const { return network_.work(); }
};

LinkId link_named(const Fabric& fabric, const std::string& name)
{
  const auto found = std::ranges::find(fabric.links(), name, &Link::name);
  return static_cast<LinkId>(found - fabric.links().begin());
}

FabricChange down(LinkId link, bool over = false)
{
  return {.what = FabricChange::What::link, .number = link, .over = over};
}

const RecoveryModel MODEL{Seconds(), Seconds(1), Seconds(TIMEOUT_S), 2};

// The second packet is on the link when that fails. The sender hears nothing after its tenth.
TEST(PacketRecovery, PacketsOnACutLinkAreSentAgainAfterATimeout)
{
  const Fabric fabric = packet_star(4, PACKETS);
  const LinkId link   = link_named(fabric, "host-1.down");
  FaultyPackets run(fabric, MODEL, {{5e-6, down(link)}, {20e-6, down(link, true)}});
  run.run({{0, 1, 10000}});
  EXPECT_NEAR(run.times[0], 9 * PACKET_S + TIMEOUT_S + 10 * PACKET_S + WAY_S, 1e-12);
  EXPECT_EQ(run.counts().cut, 1);
  EXPECT_EQ(run.counts().resumed, 1);
  EXPECT_EQ(run.work().lost, 9U);
  EXPECT_EQ(run.work().sent_again, 9U);
}

TEST(PacketRecovery, AHostsOwnLinkIsNoticedByTheTimeoutToo)
{
  const Fabric fabric = packet_star(4, PACKETS);
  const LinkId link   = link_named(fabric, "host-0.up");
  FaultyPackets run(fabric, MODEL, {{0, down(link)}, {20e-6, down(link, true)}});
  run.run({{0, 1, 10000, 1e-6}});
  EXPECT_NEAR(run.times[0], 1e-6 + TIMEOUT_S + 11 * PACKET_S + WAY_S, 1e-12);
  EXPECT_EQ(run.counts().resumed, 1);
}

TEST(PacketRecovery, SendersGiveUpAfterTheirRetries)
{
  const Fabric fabric = packet_star(4, PACKETS);
  FaultyPackets run(fabric, MODEL, {{5e-6, down(link_named(fabric, "host-1.down"))}});
  run.run({{0, 1, 10000}, {2, 3, 5000}});
  EXPECT_NEAR(run.times[1], 6 * PACKET_S + WAY_S, 1e-12);
  EXPECT_EQ(run.failures[0].find("host-0 cannot reach host-1 at "), 0U) << run.failures[0];
  EXPECT_NE(run.failures[0].find("2 retries after timeouts of 50us each (link host-1.down is down)"), std::string::npos)
      << run.failures[0];
  EXPECT_EQ(run.counts().given_up, 1);
}

// Credits of lost packets return: a long message afterwards is as fast as without faults.
TEST(PacketRecovery, BuffersOfLostPacketsAreFree)
{
  for (const std::string& control : {std::string("buffer = '3kB'\n"), std::string("flow_control = 'pfc'\n")}) {
    const Fabric fabric = packet_star(4, PACKETS + control);
    std::vector<TestFault> faults;
    for (const std::string& name : {std::string("host-0.up"), std::string("host-1.down")})
      for (int turn = 0; turn < 10; ++turn) {
        faults.push_back({(3.3 + 100 * turn) * 1e-6, down(link_named(fabric, name))});
        faults.push_back({(10.1 + 100 * turn) * 1e-6, down(link_named(fabric, name), true)});
      }
    std::vector<TestMessage> messages;
    for (int turn = 0; turn < 10; ++turn)
      messages.push_back({0, 1, 20000, 100e-6 * turn});
    messages.push_back({0, 1, 60000, 0.01});
    FaultyPackets run(fabric, MODEL, faults);
    run.run(messages);
    FaultyPackets sound(fabric, MODEL, {});
    sound.run({{0, 1, 60000, 0.01}});
    ASSERT_EQ(run.times.size(), messages.size()) << control;
    EXPECT_GE(run.counts().cut, 10) << control;
    EXPECT_NEAR(run.times[10], sound.times[0], 1e-12) << control;
  }
}

TEST(PacketRecovery, LossyLinksLoseTheSamePacketsInEachRun)
{
  const Fabric fabric = packet_star(4, PACKETS);
  const FabricChange lossy{.what = FabricChange::What::loss, .number = link_named(fabric, "host-1.down"), .loss = 0.05};
  const std::vector<TestMessage> messages{{0, 1, 1e5}, {2, 1, 1e5}, {1, 3, 1e5}};
  FaultyPackets run(fabric, {Seconds(), Seconds(), Seconds(TIMEOUT_S), 7}, {{0, lossy}});
  run.run(messages);
  FaultyPackets again(fabric, {Seconds(), Seconds(), Seconds(TIMEOUT_S), 7}, {{0, lossy}});
  again.run(messages);
  ASSERT_EQ(run.times.size(), messages.size());
  EXPECT_EQ(run.times, again.times);
  EXPECT_GT(run.work().lost, 5U);
  EXPECT_GE(run.work().sent_again, 5U);
  EXPECT_LT(run.times[2], 100 * PACKET_S + 10e-6); // its answers are lost, its packets are not
}

// A lossy link loses packets and headers, which only timeouts show.
TEST(PacketRecovery, LossesDespiteTrimmingAreSentAgain)
{
  const Fabric fabric = packet_star(4, PACKETS + "flow_control = 'none'\noverflow = 'trim'\nbuffer = '10kB'\n" +
                                           "congestion_control = 'nscc'\n[network.nscc]\nbase_round_trip = '10us'\n");
  const FabricChange lossy{.what = FabricChange::What::loss, .number = link_named(fabric, "host-1.down"), .loss = 0.05};
  const std::vector<TestMessage> messages{{0, 1, 1e5}, {2, 1, 1e5}, {3, 1, 1e5}};
  FaultyPackets run(fabric, {Seconds(), Seconds(), Seconds(TIMEOUT_S), 7}, {{0, lossy}});
  run.run(messages);
  ASSERT_EQ(run.times.size(), messages.size());
  EXPECT_GT(run.work().trimmed, 0U);
  EXPECT_GT(run.work().timeouts, 0U);
  EXPECT_GE(run.work().sent_again, run.work().trimmed);
  EXPECT_GT(run.counts().lost, 0);
}

TEST(PacketRecovery, ASlowLinkTakesLonger)
{
  const Fabric fabric = packet_star(4, PACKETS);
  const FabricChange slow{
      .what = FabricChange::What::bandwidth, .number = link_named(fabric, "host-1.down"), .factor = 0.25};
  FaultyPackets run(fabric, MODEL, {{0, slow}});
  run.run({{0, 1, 10000, 1e-6}});
  EXPECT_NEAR(run.times[0], 1e-6 + PACKET_S + 40 * PACKET_S + WAY_S, 1e-12);
}

// The rest goes around the failed link as soon as routing knows: its first packet shows the receiver the gap.
TEST(PacketRecovery, RoutesChangeOnceRoutingHasConverged)
{
  const std::string ring = replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"torus\"\ndimensions = [5]");
  const Fabric fabric    = fabric_of(ring + "[network]\nmodel = \"packets\"\nflow_control = 'none'\n" + PACKETS);
  std::vector<LinkId> route;
  {
    Route usual;
    fabric.route(0, 1, usual);
    route = usual.links;
  }
  FaultyPackets run(fabric, {Seconds(5e-6), Seconds(5e-6), Seconds(TIMEOUT_S), 2}, {{5e-6, down(route[1])}});
  run.run({{0, 1, 50000}});
  ASSERT_EQ(run.times.size(), 1U);
  EXPECT_EQ(run.counts().resumed, 1);
  EXPECT_LT(run.times[0], 50 * PACKET_S + TIMEOUT_S); // before a timeout
  EXPECT_GT(run.times[0], 50 * PACKET_S + 10e-6);
  EXPECT_EQ(run.work().timeouts, 0U);
}

// Until routing has converged, a spine that is cut loses its share of the packets; then switches avoid it.
TEST(PacketRecovery, SwitchesThatBalanceLoadsAvoidWhatIsDown)
{
  const std::string text =
      replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\ndown = [4, 4]\nup = [1, 4]");
  for (const std::string& balancer : {std::string("spray"), std::string("random"), std::string("shortest-queue")}) {
    const Fabric fabric =
        fabric_of(text + "[network]\nmodel = \"packets\"\nload_balancing = '" + balancer + "'\n" + PACKETS);
    Route usual;
    fabric.route(0, 4, usual);
    FaultyPackets run(fabric, {Seconds(5e-6), Seconds(15e-6), Seconds(4 * TIMEOUT_S), 2},
                      {{100.5e-6, down(usual.links[2])}, {2e-3, down(usual.links[2], true)}});
    run.run({{0, 4, 1e6}, {1, 5, 1e6}, {0, 8, 1e4, 3e-3}});
    ASSERT_EQ(run.times.size(), 3U) << balancer;
    EXPECT_GT(run.work().lost, 5U) << balancer; // a quarter of the packets of 20 us
    EXPECT_LT(run.work().lost, 40U) << balancer;
    EXPECT_LT(std::max(run.times[0], run.times[1]), 1000 * PACKET_S + 8 * TIMEOUT_S) << balancer;
    EXPECT_EQ(run.counts().given_up, 0) << balancer;
  }
}

} // namespace
} // namespace weft
