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

/** Keys of InfiniBand's congestion control with a timer of @p microseconds. */
std::string infiniband(int microseconds, const std::string& more = "")
{
  return "congestion_control = 'infiniband'\n[network.infiniband]\nccti_timer = '" + std::to_string(microseconds) +
         "us'\n" + more;
}

TEST(PacketNetwork, InfinibandDelaysThePacketsOfAConnection)
{
  // Entry 17 of the table delays the next packet by the time of one. The NIC serves the other connection meanwhile.
  const Fabric fabric = packet_star(4, STORED + infiniband(100, "ccti_min = 17\n"));
  const TestRun run   = run_packets(fabric, {{0, 1, 10000}, {0, 2, 10000}, {2, 3, 10400}});
  EXPECT_NEAR(run.times[0], WAY + (9 * 2 + 2) * FULL, 1e-12);
  EXPECT_NEAR(run.times[1], WAY + (1 + 9 * 2 + 2) * FULL, 1e-12);
  EXPECT_NEAR(run.times[2], WAY + (10 * 2 + 2 * 0.4) * FULL, 1e-12);
  EXPECT_EQ(run.work.marked, 0U);
}

// 8 connections share the marks of the link, one in 11 packets: their indices grow if the timer is longer than 88 us.
TEST(PacketNetwork, InfinibandFreesTheVictimOfAnIncast)
{
  constexpr int SENDERS   = 8;
  constexpr double BYTES  = 20e6;
  constexpr double STEADY = 0.04; // seconds, after which the rates have settled
  std::vector<TestMessage> messages{{1, 9, BYTES / 4, STEADY}};
  for (int sender = 1; sender <= SENDERS; ++sender)
    messages.push_back({sender, 0, BYTES});
  const auto run     = [&](const std::string& keys) { return run_packets(packet_star(10, CUT + keys), messages); };
  const auto rate    = [](const TestRun& its) { return BYTES / 4 / (its.times[0] - STEADY); };
  const double bound = SENDERS * BYTES / RATE;

  EXPECT_NEAR(rate(run("")), RATE / SENDERS, 0.15 * RATE / SENDERS);
  EXPECT_NEAR(rate(run(infiniband(50))), RATE / SENDERS, 0.15 * RATE / SENDERS);
  const TestRun with = run(infiniband(150));
  EXPECT_GT(rate(with), 0.9 * RATE * (SENDERS - 1) / SENDERS);
  EXPECT_LT(std::ranges::max(with.times), 1.03 * bound);
  EXPECT_EQ(with.work.notifications, with.work.marked);
  EXPECT_EQ(with.times, run(infiniband(150)).times);
}

/** Two switches with 8 hosts each and a link between them, with further keys of [network]. */
Fabric two_switches(const std::string& keys)
{
  std::string text = replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\ndown = [8, 2]\nup = [1, 1]");
  text             = replaced(text, "max_ports = 8", "max_ports = 64");
  return fabric_of(text + "[network]\nmodel = \"packets\"\n" + CUT + keys + "\n");
}

// The parking lot of Gran et al. (First experiences with congestion control in InfiniBand hardware, IPDPS 2010): of the
// senders to host 8, three share the link between the switches, where a victim to another host waits with them.
TEST(PacketNetwork, InfinibandIsFairInAParkingLot)
{
  constexpr double BYTES  = 40e6;
  constexpr double STEADY = 0.03;
  std::vector<TestMessage> messages{{3, 15, BYTES / 4, STEADY}};
  for (const int sender : {0, 1, 2, 9, 10, 11, 12})
    messages.push_back({sender, 8, BYTES});
  const TestRun without = run_packets(two_switches(""), messages);
  const TestRun with    = run_packets(two_switches(infiniband(150)), messages);
  const auto victim     = [&](const TestRun& its) { return BYTES / 4 / (its.times[0] - STEADY); };
  const auto sender     = [&](const TestRun& its, std::size_t one) { return BYTES / its.times[one]; };
  EXPECT_NEAR(sender(without, 7), RATE / 5, 0.02 * RATE / 5); // a port each, and one for the other switch
  EXPECT_NEAR(victim(without), RATE / 15, 0.02 * RATE / 15);
  EXPECT_NEAR(victim(with), RATE * 4 / 7, 0.12 * RATE * 4 / 7);
  for (std::size_t one = 1; one < messages.size(); ++one)
    EXPECT_NEAR(sender(with, one), RATE / 7, 0.05 * RATE / 7) << one;
  EXPECT_LT(std::ranges::max(with.times), 1.03 * 7 * BYTES / RATE);
}

// Without a reaction of the senders, the link between the switches waits for credits: its packets are marked only at
// the port of host 8, where the victim's do not come by.
TEST(PacketNetwork, InfinibandMarksAtTheRootOfCongestion)
{
  constexpr double BYTES = 2e6;
  std::vector<TestMessage> messages{{3, 15, BYTES}};
  for (const int sender : {0, 1, 2})
    messages.push_back({sender, 8, BYTES});
  for (const int sender : {9, 10, 11, 12}) // as long as the others: their shares are three times as large
    messages.push_back({sender, 8, 3.2 * BYTES});
  constexpr double HOT   = (3 + 4 * 3.2) * BYTES / 1000; // packets to host 8
  const std::string keys = "ccti_increase = 0\nmarking_rate = 0\n";
  const TestRun roots    = run_packets(two_switches(infiniband(150, keys)), messages);
  const TestRun all      = run_packets(two_switches(infiniband(150, keys + "victim_mask = 'all'\n")), messages);
  const TestRun none     = run_packets(two_switches(infiniband(150, keys + "threshold = 0\n")), messages);
  const TestRun large    = run_packets(two_switches(infiniband(150, keys + "packet_size = '1001B'\n")), messages);
  EXPECT_EQ(roots.times, all.times);
  EXPECT_NEAR(static_cast<double>(roots.work.marked), HOT, 0.005 * HOT);
  EXPECT_NEAR(static_cast<double>(all.work.marked - roots.work.marked), BYTES / 1000, 0.1 * BYTES / 1000);
  EXPECT_EQ(none.work.marked + large.work.marked, 0U);
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

// Packets that leave more than 5 kB behind are marked. The last one of the queue, of host 3, leaves nothing: its sender
// is not notified. The others are at their first mark, and again for the marks of the next 50 us.
TEST(PacketNetwork, MarksTellOfTheQueueThatAPacketLeaves)
{
  const Fabric fabric =
      packet_star(4, CUT + "flow_control = 'pfc'\nxoff = '1MB'\nxon = '0.9MB'\ncongestion_control = 'dcqcn'\n"
                           "ecn_min = '5kB'\necn_max = '5.001kB'\n[network.dcqcn]\ninitial_alpha = 0\ng = 1e-9\n");
  const std::vector<TestMessage> messages{{1, 0, 20000}, {2, 0, 20000}, {3, 0, 1000, 19.5e-6}};
  const TestRun run = run_packets(fabric, messages);
  EXPECT_NEAR(static_cast<double>(run.work.marked), 2 * (20 - 5), 1); // while the queue grows, and while it shrinks
  EXPECT_EQ(run.work.notifications, 4U);
}

// Without acknowledgements, a message of one packet has ended when its notification comes back.
TEST(PacketNetwork, NotificationsOutliveTheirMessages)
{
  constexpr int SENDERS  = 4;
  constexpr int MESSAGES = SENDERS * 500;
  std::vector<TestMessage> messages;
  messages.reserve(MESSAGES);
  for (int number = 0; number < MESSAGES; ++number)
    messages.push_back({1 + number % SENDERS, 0, 1000});
  const std::string keys = CUT + "flow_control = 'pfc'\nxoff = '10MB'\nxon = '9MB'\ncongestion_control = 'dcqcn'\n"
                                 "ecn_min = '5kB'\necn_max = '20kB'\n";
  const TestRun run      = run_packets(packet_star(SENDERS + 1, keys), messages);
  EXPECT_GT(run.work.notifications, 0U);
  EXPECT_LT(run.work.most_queued, 100e3); // 1.5 MB at line rate
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
