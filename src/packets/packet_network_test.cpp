// SPDX-License-Identifier: LGPL-2.1-only
#include "packets/packet_network.hpp"

#include "packets/packet_test.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace weft {
namespace {

constexpr double CABLE  = 1e-6;
constexpr double SWITCH = 0.25e-6;
constexpr double RATE   = 1e9;
constexpr double WAY    = 2 * CABLE + SWITCH;
constexpr double FULL   = 1000 / RATE; // time of a packet of 1,000 bytes

const std::string STORED = "packet = '1000B'\nswitching = 'store-and-forward'\n";
const std::string CUT    = "packet = '1000B'\nswitching = 'cut-through'\n";

TEST(PacketNetwork, StoringASwitchRepeatsOnePacket)
{
  const TestRun run = run_packets(packet_star(4, STORED), {{0, 1, 10000}, {2, 3, 10400}, {3, 2, 400}});
  EXPECT_NEAR(run.times[0], WAY + 11 * FULL, 1e-12);
  EXPECT_NEAR(run.times[1], WAY + 11.4 * FULL, 1e-12); // the shorter last packet follows at once
  EXPECT_NEAR(run.times[2], WAY + 2 * 0.4 * FULL, 1e-12);
  EXPECT_EQ(run.work.packets, 10U + 11 + 1);
  EXPECT_EQ(run.work.hops, 2 * run.work.packets);
}

TEST(PacketNetwork, CutThroughTakesAsLongAsAFlow)
{
  const std::vector<TestMessage> messages{{0, 1, 10000}, {2, 3, 10400, 1e-6}, {3, 2, 0}, {1, 1, 500}};
  const Fabric fabric = packet_star(4, CUT);
  const TestRun run   = run_packets(fabric, messages);
  EXPECT_NEAR(run.times[0], WAY + 10 * FULL, 1e-12);
  const std::vector<double> flows = run_flows(fabric, messages);
  for (std::size_t message = 0; message < messages.size(); ++message)
    EXPECT_NEAR(run.times[message], flows[message], 1e-12) << message;
}

// A narrower link behind a switch takes the packets as fast as it can; a wider one cannot send what has not arrived.
TEST(PacketNetwork, ThePaceIsThatOfTheNarrowestLink)
{
  const std::string half = "[[links]]\nmatch = '*1*'\nbandwidth = '0.5GBps'\n";
  const Fabric fabric    = packet_star(4, CUT + half);
  const TestRun run      = run_packets(fabric, {{0, 1, 10000}});
  EXPECT_NEAR(run.times[0], WAY + 20 * FULL, 1e-12);
  EXPECT_NEAR(run_packets(fabric, {{1, 0, 10000}}).times[0], WAY + 20 * FULL, 1e-12);
}

TEST(PacketNetwork, ANicServesItsMessagesInTurn)
{
  const TestRun run = run_packets(packet_star(4, STORED), {{0, 1, 10000}, {0, 2, 10000}, {0, 3, 5000}});
  // The first message has sent a packet before there are others.
  EXPECT_NEAR(run.times[2], WAY + (1 + 3 * 5 + 1) * FULL, 1e-12);
  EXPECT_NEAR(run.times[0], WAY + (1 + 3 * 5 + 2 * 4 - 1 + 1) * FULL, 1e-12);
  EXPECT_NEAR(run.times[1], WAY + (25 + 1) * FULL, 1e-12);
}

/** Returns the time of a message of @p packets packets whose credits let @p window of them on their way. */
double credit_limited(int packets, int window)
{
  const double loop = 2 * FULL + 2 * CABLE + SWITCH; // until the credit of a packet is back
  double last       = 0;
  std::vector<double> starts;
  for (int packet = 0; packet < packets; ++packet) {
    double start = packet == 0 ? 0 : starts.back() + FULL;
    if (packet >= window)
      start = std::max(start, starts[static_cast<std::size_t>(packet - window)] + loop);
    starts.push_back(start);
    last = start + 2 * FULL + WAY;
  }
  return last;
}

TEST(PacketNetwork, CreditsLimitARateByTheirRoundTrip)
{
  for (const int window : {1, 2, 3, 4, 5, 8}) {
    const TestRun run =
        run_packets(packet_star(4, STORED + "buffer = '" + std::to_string(window) + "kB'\n"), {{0, 1, 40000}});
    EXPECT_NEAR(run.times[0], credit_limited(40, window), 1e-12) << window;
  }
  EXPECT_NEAR(run_packets(packet_star(4, STORED), {{0, 1, 40000}}).times[0], WAY + 41 * FULL, 1e-12);
}

// The last link is busy from the first packet on.
TEST(PacketNetwork, LosslessIncastTakesTheTimeOfItsBytes)
{
  constexpr int SENDERS = 8;
  std::vector<TestMessage> messages;
  for (int sender = 1; sender <= SENDERS; ++sender)
    messages.push_back({sender, 0, 200000});
  const double end = FULL + WAY + SENDERS * 200 * FULL;
  for (const std::string& control : {std::string("credits"), std::string("pfc")}) {
    const TestRun run = run_packets(packet_star(9, STORED + "flow_control = '" + control + "'\n"), messages);
    EXPECT_NEAR(std::ranges::max(run.times), end, 1e-12) << control;
    EXPECT_GT(std::ranges::min(run.times), 0.95 * end) << control; // equal shares
    EXPECT_EQ(run.work.dropped, 0U);
    EXPECT_EQ(run.work.pauses > 0, control == "pfc");
  }
}

TEST(PacketNetwork, PausesHoldAnIncastBelowItsHeadroom)
{
  constexpr int SENDERS  = 4;
  constexpr int PACKETS  = 1000;
  const std::string keys = STORED + "flow_control = 'pfc'\nxoff = '20kB'\nxon = '10kB'\n";
  std::vector<TestMessage> messages;
  for (int sender = 1; sender <= SENDERS; ++sender)
    messages.push_back({sender, 0, 1000.0 * PACKETS});
  const TestRun run = run_packets(packet_star(5, keys), messages);
  EXPECT_EQ(run.work.packets, 1U * SENDERS * PACKETS);
  EXPECT_GT(run.work.most_buffered, 20000);
  EXPECT_LE(run.work.most_buffered, 20000 + (2 * CABLE + SWITCH) * RATE + 2 * 1000 + 64);
  // Each sender sends at full rate or not at all: it is paused for the rest of the time, until its last packets leave,
  // which wait behind at most xoff and headroom of each.
  const double paused = run.work.paused_s / SENDERS;
  const double busy   = PACKETS * FULL;
  EXPECT_LE(paused, SENDERS * busy - busy);
  EXPECT_GE(paused, SENDERS * busy - busy - SENDERS * 26e3 / RATE);
}

// Packets that wait for a full link hold up those behind them in the same input buffer, which would have room to go.
TEST(PacketNetwork, AnIncastSlowsItsVictims)
{
  std::vector<TestMessage> messages{{1, 5, 1e6}};
  for (const int sender : {1, 2, 3, 4})
    messages.push_back({sender, 0, 1e6});
  const Fabric fabric    = packet_star(8, STORED + "buffer = '8kB'\n");
  const double victim    = run_packets(fabric, messages).times[0];
  const double as_a_flow = run_flows(fabric, messages)[0];
  EXPECT_NEAR(as_a_flow, 1e6 / (0.75 * RATE), 0.02e-3); // max-min: the rest of its NIC's link
  EXPECT_NEAR(victim, 1e6 / (0.25 * RATE), 0.15e-3);    // the pace of the incast, whose packets are ahead of it
}

TEST(PacketNetwork, DroppedPacketsAreSentAgain)
{
  constexpr int SENDERS  = 6;
  const std::string keys = CUT + "flow_control = 'none'\nbuffer = '20kB'\nretransmission_timeout = '100us'\n";
  std::vector<TestMessage> messages;
  for (int sender = 1; sender <= SENDERS; ++sender)
    messages.push_back({sender, 0, 300000, 1e-6 * sender});
  const TestRun run = run_packets(packet_star(7, keys), messages);
  EXPECT_GT(run.work.dropped, 0U);
  EXPECT_GE(run.work.sent_again, run.work.dropped);
  for (const double time : run.times)
    EXPECT_GT(time, 300 * FULL);
  EXPECT_GE(std::ranges::max(run.times), SENDERS * 300 * FULL);
  EXPECT_EQ(run.times, run_packets(packet_star(7, keys), messages).times);
}

TEST(PacketNetwork, ALostTailWaitsForItsTimeout)
{
  // Two bursts meet at a queue for four packets; the last packet of one is dropped.
  const std::string keys = STORED + "flow_control = 'none'\nbuffer = '4kB'\nretransmission_timeout = '500us'\n";
  const TestRun run      = run_packets(packet_star(4, keys), {{1, 0, 5000}, {2, 0, 5000}, {3, 0, 1000, 4.5e-6}});
  EXPECT_GT(run.work.timeouts, 0U);
  EXPECT_GT(std::ranges::max(run.times), 500e-6);
}

TEST(PacketNetwork, DcqcnKeepsAnIncastsQueueShort)
{
  constexpr int SENDERS = 8;
  std::vector<TestMessage> messages;
  for (int sender = 1; sender <= SENDERS; ++sender)
    messages.push_back({sender, 0, 20e6});
  const std::string keys  = CUT + "flow_control = 'pfc'\nxoff = '1MB'\nxon = '0.9MB'\n";
  const std::string dcqcn = "congestion_control = 'dcqcn'\necn_min = '5kB'\necn_max = '200kB'\n";
  const TestRun without   = run_packets(packet_star(9, keys), messages);
  const TestRun with      = run_packets(packet_star(9, keys + dcqcn), messages);
  EXPECT_GT(without.work.pauses, 0U);
  EXPECT_GT(with.work.notifications, 0U);
  EXPECT_LT(with.work.pauses, without.work.pauses);
  const double bound = SENDERS * 20e6 / RATE;
  EXPECT_GE(std::ranges::max(with.times), bound);
  EXPECT_LT(std::ranges::max(with.times), 1.5 * bound);
}

TEST(PacketNetwork, SwiftKeepsQueuesAtItsTarget)
{
  constexpr int SENDERS = 8;
  std::vector<TestMessage> messages;
  for (int sender = 1; sender <= SENDERS; ++sender)
    messages.push_back({sender, 0, 10e6});
  const TestRun run  = run_packets(packet_star(9, CUT + "flow_control = 'none'\nbuffer = '1MB'\n"
                                                        "congestion_control = 'swift'\n"),
                                   messages);
  const double bound = SENDERS * 10e6 / RATE;
  EXPECT_EQ(run.work.dropped, 0U);
  EXPECT_LT(run.work.most_queued, 200e3); // 20 us and its scaling, not eight windows at full rate
  EXPECT_LT(std::ranges::max(run.times), 1.02 * bound);
}

// Differences of sizes such as 400.1 bytes leave a rest of 1e-13 bytes: no reason to wait for an acknowledgement.
TEST(PacketNetwork, RoundedSizesDoNotCloseAWindowOfOnePacket)
{
  const Fabric fabric = packet_star(
      4, CUT + "congestion_control = 'swift'\n[network.swift]\nbase_target = '1ns'\nhop_target = '1ns'\n"
               "scaling_range = '1ns'\ninitial_window = 12\nleast_window = 1\nlargest_cut = 0.99\nbeta = 1\n");
  for (int tenths = 1; tenths < 10; ++tenths) {
    const TestRun run = run_packets(fabric, {{0, 1, 4000 + tenths / 10.0}, {0, 1, 1000, 1}});
    EXPECT_GT(run.times[1], run.times[0]);
  }
}

TEST(PacketNetwork, TimelyKeepsAnIncastsQueueShort)
{
  constexpr int SENDERS = 4;
  std::vector<TestMessage> messages;
  for (int sender = 1; sender <= SENDERS; ++sender)
    messages.push_back({sender, 0, 10e6});
  const std::string keys = CUT + "flow_control = 'pfc'\nxoff = '100kB'\nxon = '90kB'\n";
  const TestRun without  = run_packets(packet_star(5, keys), messages);
  const TestRun with     = run_packets(packet_star(5, keys + "congestion_control = 'timely'\n"), messages);
  EXPECT_GT(without.work.pauses, 0U);
  EXPECT_LT(with.work.pauses, without.work.pauses / 10);
  const double bound = SENDERS * 10e6 / RATE;
  EXPECT_GE(std::ranges::max(with.times), bound);
  EXPECT_LT(std::ranges::max(with.times), 1.5 * bound);
}

// Headers overtake the queue: each is answered and sent again before the queue has drained, and nothing is lost.
TEST(PacketNetwork, TrimmedPacketsAreSentAgainWithoutTimeouts)
{
  constexpr int SENDERS = 6;
  std::vector<TestMessage> messages;
  for (int sender = 1; sender <= SENDERS; ++sender)
    messages.push_back({sender, 0, 300000});
  for (const std::string& switching : {CUT, STORED})
    for (const std::string& control : {std::string("none"), std::string("swift")}) {
      const std::string keys = switching + "flow_control = 'none'\noverflow = 'trim'\nbuffer = '20kB'\n" +
                               "congestion_control = '" + control + "'\n";
      const TestRun run      = run_packets(packet_star(7, keys), messages);
      EXPECT_GT(run.work.trimmed, 0U) << control;
      EXPECT_EQ(run.work.sent_again, run.work.trimmed) << control;
      EXPECT_EQ(run.work.dropped + run.work.timeouts, 0U) << control;
      EXPECT_LE(run.work.most_queued, 20000) << control;
      const double bytes = SENDERS * 300e3 + 64.0 * static_cast<double>(run.work.trimmed);
      EXPECT_NEAR(std::ranges::max(run.times), bytes / RATE + WAY, 0.01 * bytes / RATE) << control;
      EXPECT_EQ(run.times, run_packets(packet_star(7, keys), messages).times) << control;
    }
}

TEST(PacketNetwork, NsccKeepsQueuesBelowARoundTrip)
{
  constexpr int SENDERS = 8;
  std::vector<TestMessage> messages;
  for (int sender = 1; sender <= SENDERS; ++sender)
    messages.push_back({sender, 0, 2e6});
  const TestRun run  = run_packets(packet_star(9, CUT + "flow_control = 'none'\noverflow = 'trim'\n"
                                                        "congestion_control = 'nscc'\n"
                                                        "[network.nscc]\nbase_round_trip = '50us'\n"),
                                   messages);
  const double bound = SENDERS * 2e6 / RATE;
  EXPECT_LE(run.work.most_queued, 50e3);
  EXPECT_GT(run.work.marked, 0U);
  EXPECT_EQ(run.work.notifications, 0U); // acknowledgements tell of marks
  EXPECT_LT(std::ranges::max(run.times), 1.02 * bound);
}

/** Random messages of which each shares at most one link: with a group that has its sender, or its receiver. */
std::vector<TestMessage> random_groups(std::mt19937& random, int hosts)
{
  std::vector<int> order(static_cast<std::size_t>(hosts));
  for (int host = 0; host < hosts; ++host)
    order[static_cast<std::size_t>(host)] = host;
  for (std::size_t at = order.size(); at-- > 1;)
    std::swap(order[at], order[random() % (at + 1)]);
  std::vector<TestMessage> messages;
  std::size_t at = 0;
  while (at + 1 < order.size()) {
    const std::size_t most  = std::min<std::size_t>(6, order.size() - at - 1);
    const std::size_t group = 1 + random() % most;
    const bool gathers      = random() % 2 == 0;
    const double start      = 1e-6 * static_cast<double>(random() % 500);
    const double bytes      = 1e6 + 1e3 * static_cast<double>(random() % 4000); // of each
    for (std::size_t one = 1; one <= group; ++one)
      messages.push_back(gathers ? TestMessage{order[at + one], order[at], bytes, start}
                                 : TestMessage{order[at], order[at + one], bytes, start});
    at += group + 1;
  }
  return messages;
}

TEST(PacketNetwork, LongMessagesGetMaxMinShares)
{
  std::mt19937 random(1);
  double worst = 0;
  for (int turn = 0; turn < 100; ++turn) {
    const std::vector<TestMessage> messages = random_groups(random, 24);
    const Fabric fabric =
        packet_star(24, CUT + (turn % 2 == 0 ? "flow_control = 'credits'\n" : "flow_control = 'pfc'\n"));
    const std::vector<double> packets = run_packets(fabric, messages).times;
    const std::vector<double> flows   = run_flows(fabric, messages);
    for (std::size_t one = 0; one < messages.size(); ++one)
      worst = std::max(worst, std::abs((packets[one] - messages[one].at) / (flows[one] - messages[one].at) - 1));
  }
  EXPECT_LT(worst, 0.02);
  RecordProperty("worst", std::to_string(worst));
}

} // namespace
} // namespace weft
