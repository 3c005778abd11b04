// SPDX-License-Identifier: LGPL-2.1-only
#include "network/flow_network.hpp"

#include "network/sharing/fair_share_test.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <ranges>
#include <vector>

namespace weft {
namespace {

/** Star: each host has a cable up and a cable down of 10 bytes per second; the latency is 1 s. */
class StarRoutes : public MessageRoutes {
  const std::vector<int> none_;

public:
  static constexpr int HOSTS = 6;
  int repeated               = 0;
  static std::vector<double> capacities() { return std::vector<double>(std::size_t{2} * HOSTS, 10.0); }
  void find(int from, int to, Bytes bytes, double missed, FlowRoute& into) override
  {
    into.latency = 1;
    into.volume  = bytes.value() * missed;
    into.bound   = from == to ? 5 : 10;
    if (from != to)
      into.resources = {from, HOSTS + to};
  }
  const std::vector<int>* known_route(int /*from*/, int /*to*/) override { return &none_; }
  void repeat(const FlowRoute& /*way*/, int /*from*/, int /*to*/, Bytes /*bytes*/) override { ++repeated; }
};

class Arrivals : public Receiving {
  Agenda& agenda_;

public:
  std::map<std::uint64_t, double> times;
  explicit Arrivals(Agenda& agenda) : agenda_(agenda) {}
  void arrived(std::uint64_t message) override { times[message] = agenda_.now().value(); }
};

class FlowNetworkTest : public testing::Test {
protected:
  Agenda agenda_;
  StarRoutes ways_;
  Arrivals arrivals_{agenda_};
  FlowNetwork network_{agenda_, ways_, StarRoutes::capacities(), StarRoutes::HOSTS};

  void send(int from, int to, double bytes, std::uint64_t message)
  {
    network_.send(from, to, Bytes(bytes), 1, arrivals_, message);
  }
};

TEST_F(FlowNetworkTest, AFlowAloneTakesItsLatencyAndItsBytes)
{
  send(0, 1, 100, 1);
  send(2, 2, 100, 2); // within a host
  agenda_.run_until(Seconds(100));
  EXPECT_EQ(arrivals_.times, (std::map<std::uint64_t, double>{{1, 11}, {2, 21}}));
}

/** Star whose messages to host 5 have class 1, and all others class 0. */
class ClassRoutes : public StarRoutes {
public:
  bool repeats() const override { return false; }
  void find(int from, int to, Bytes bytes, double missed, FlowRoute& into) override
  {
    StarRoutes::find(from, to, bytes, missed, into);
    into.share_class = to == 5 ? 1 : 0;
  }
};

TEST_F(FlowNetworkTest, SourcesShareALinkWhateverTheirNumbersOfMessages)
{
  network_.share_by_class(std::vector<int>(StarRoutes::capacities().size()), true);
  for (std::uint64_t message = 0; message < 3; ++message)
    send(0, 1, 100, message);
  send(2, 1, 200, 3);
  agenda_.run_until(Seconds(1000));
  // From 1 s, each host has 5 bytes per second; from 41 s, host 0 has 10 for its remaining 100 bytes.
  EXPECT_NEAR(arrivals_.times[3], 41, 1e-9);
  for (std::uint64_t message = 0; message < 3; ++message)
    EXPECT_NEAR(arrivals_.times[message], 51, 1e-9);
}

TEST(FlowNetwork, GroupsAreOfOneClass)
{
  Agenda agenda;
  ClassRoutes ways;
  Arrivals arrivals(agenda);
  FlowNetwork network(agenda, ways, StarRoutes::capacities(), StarRoutes::HOSTS);
  network.share_by_class(std::vector<int>(StarRoutes::capacities().size()), false);
  network.set_class_weight(1, 3);
  network.send(0, 5, Bytes(75), 1, arrivals, 1);
  network.send(0, 1, Bytes(50), 1, arrivals, 2);
  FlowRoute way{{0, StarRoutes::HOSTS + 1}, 1, 50, 10};
  network.start(way, Seconds(), arrivals, 3);
  way.share_class = 1; // otherwise identical
  network.start(way, Seconds(), arrivals, 4);
  agenda.run_until(Seconds(1000));
  // Class 1 has 7.5 bytes per second, 3.75 for each flow; class 0 has 2.5, half of it for each flow. At 14.333 s flow 4
  // has ended, and flow 1 has 25 bytes left, which take 3.333 s at 7.5, until 17.667 s; then flows 2 and 3 have 50 -
  // 20.833 bytes left at 5.
  EXPECT_NEAR(arrivals.times[4], 1 + 50 / 3.75, 1e-9);
  EXPECT_NEAR(arrivals.times[1], 1 + 50 / 3.75 + 25 / 7.5, 1e-9);
  const double begun = 50 / 3.75 + 25 / 7.5;
  EXPECT_NEAR(arrivals.times[2], 1 + begun + (50 - 1.25 * begun) / 5, 1e-9);
  EXPECT_NEAR(arrivals.times[3], arrivals.times[2], 1e-9);
}

class Background : public BackgroundReceiver {
public:
  void due(std::uint64_t /*what*/) override {}
  void arrived(std::uint64_t /*message*/) override {}
};

TEST_F(FlowNetworkTest, BackgroundMessagesAreNotForeground)
{
  Background background;
  network_.send(0, 1, Bytes(100), 1, background, 1);
  EXPECT_FALSE(network_.carries_foreground());
  send(0, 1, 50, 2);
  EXPECT_TRUE(network_.carries_foreground());
  agenda_.run_until(Seconds(13)); // the second flow has ended at 11 s
  EXPECT_FALSE(network_.carries_foreground());
}

/** Star whose first cable's capacity is divided by the number of messages in flight on it. */
class CrowdedRoutes : public StarRoutes {
public:
  int there = 0;
  bool vary() const override { return true; }
  void find(int from, int to, Bytes bytes, double missed, FlowRoute& into) override
  {
    StarRoutes::find(from, to, bytes, missed, into);
    ++there;
  }
  void left(const FlowRoute& /*way*/) override { --there; }
  double capacity(int resource, double fixed) override { return resource == 0 ? fixed / there : fixed; }
};

TEST(FlowNetwork, AsksForCapacitiesThatVary)
{
  Agenda agenda;
  CrowdedRoutes ways;
  Arrivals arrivals(agenda);
  FlowNetwork network(agenda, ways, StarRoutes::capacities(), StarRoutes::HOSTS);
  network.send(0, 1, Bytes(100), 1, arrivals, 1);
  network.send(0, 2, Bytes(50), 1, arrivals, 2); // 5 bytes per second for each
  agenda.run_until(Seconds(100));
  EXPECT_DOUBLE_EQ(arrivals.times[2], 21);
  EXPECT_DOUBLE_EQ(arrivals.times[1], 26);        // 50 bytes are left, and the message is alone
  network.send(0, 1, Bytes(100), 1, arrivals, 3); // its route is known, but not yet in use
  EXPECT_EQ(ways.there, 1);
}

TEST_F(FlowNetworkTest, FlowsShareALinkWhileBothFlow)
{
  send(0, 1, 100, 1);
  agenda_.run_until(Seconds(5)); // 40 bytes are sent when the second message begins to flow
  send(0, 2, 30, 2);
  agenda_.run_until(Seconds(100));
  // At 6 s, 50 bytes of the first message are left. The second needs 6 s at half the rate; then 20 bytes of the first
  // are left.
  EXPECT_EQ(arrivals_.times, (std::map<std::uint64_t, double>{{1, 14}, {2, 12}}));
}

TEST_F(FlowNetworkTest, FlowsOfOneGroupEndByWhatTheGroupHasServed)
{
  send(0, 1, 100, 1);
  agenda_.run_until(Seconds(5));
  send(0, 1, 20, 2); // flows from 6 s at 5 bytes per second; 50 bytes of message 1 are left
  agenda_.run_until(Seconds(7));
  send(0, 1, 40, 3); // flows from 8 s, when 40 and 10 bytes of the earlier messages are left
  agenda_.run_until(Seconds(100));
  // 3 s at a third of the rate; then the two remaining messages have 30 bytes left each.
  EXPECT_NEAR(arrivals_.times[2], 11, 1e-9);
  EXPECT_NEAR(arrivals_.times[1], 17, 1e-9);
  EXPECT_NEAR(arrivals_.times[3], 17, 1e-9);
  EXPECT_FALSE(network_.flows_over(0));
}

// Messages with different cache contents are not coalesced, and do not reuse the previous route.
TEST_F(FlowNetworkTest, MessagesAreNotEqualWhereCachesHoldOthers)
{
  network_.send(0, 1, Bytes(100), 1, arrivals_, 1);
  agenda_.run_until(Seconds(20));
  network_.send(0, 1, Bytes(100), 0.5, arrivals_, 2);
  network_.send(0, 1, Bytes(100), 0.25, arrivals_, 3);
  agenda_.run_until(Seconds(100));
  EXPECT_EQ(ways_.repeated, 0);
  EXPECT_EQ(arrivals_.times, (std::map<std::uint64_t, double>{{1, 11}, {2, 28.5}, {3, 26}}));
}

TEST_F(FlowNetworkTest, EqualMessagesAreOneFlow)
{
  for (std::uint64_t message = 0; message < 4; ++message)
    send(0, 1, 50, message);
  agenda_.run_until(Seconds(100));
  EXPECT_EQ(ways_.repeated, 3);
  EXPECT_EQ(arrivals_.times, (std::map<std::uint64_t, double>{{0, 21}, {1, 21}, {2, 21}, {3, 21}}));
}

TEST_F(FlowNetworkTest, TheLatencyOfAMessageMayHaveBegunEarlier)
{
  agenda_.run_until(Seconds(5));
  const auto send_late = [this](int from, double since, std::uint64_t message) {
    network_.send_on_sockets({.from = from, .to = 1, .bytes = Bytes(100), .missed = 1, .since = Seconds(since)},
                             arrivals_, message);
  };
  send_late(0, 4.5, 0);
  send_late(0, 4.5, 1);
  EXPECT_EQ(network_.work().flows, 1U);
  agenda_.run_until(Seconds(50));
  EXPECT_EQ(arrivals_.times, (std::map<std::uint64_t, double>{{0, 25.5}, {1, 25.5}}));
  send_late(0, 40, 2); // its latency has passed
  agenda_.run_until(Seconds(100));
  EXPECT_EQ(arrivals_.times[2], 60);
}

/** Sends one of several messages from host 0 to host 1 each time it is due. */
class Sender : public Due {
  FlowNetwork& network_;
  Arrivals& arrivals_;

public:
  Sender(FlowNetwork& network, Arrivals& arrivals) : network_(network), arrivals_(arrivals) {}
  void due(std::uint64_t message) override { network_.send(0, 1, Bytes(50), 1, arrivals_, message); }
};

TEST_F(FlowNetworkTest, MessagesThatLeaveAtTheSameTimeButForRoundingAreOneFlow)
{
  Sender sender(network_, arrivals_);
  for (std::uint64_t message = 0; message < 4; ++message)
    agenda_.add(Seconds(3 + static_cast<double>(message) * 4e-16), sender, message);
  agenda_.run_until(Seconds(100));
  EXPECT_EQ(network_.work().messages, 4U);
  EXPECT_EQ(network_.work().flows, 1U);
}

TEST_F(FlowNetworkTest, AMessageLikeTheLastOneFromItsHostGoesTheSameWay)
{
  send(0, 1, 50, 1);
  agenda_.run_until(Seconds(100));
  send(0, 1, 50, 2);
  agenda_.run_until(Seconds(200));
  EXPECT_EQ(ways_.repeated, 1);
  send(0, 2, 50, 3);
  agenda_.run_until(Seconds(300));
  send(0, 2, 60, 4);
  agenda_.run_until(Seconds(400));
  EXPECT_EQ(ways_.repeated, 1);
  EXPECT_EQ(arrivals_.times, (std::map<std::uint64_t, double>{{1, 6}, {2, 106}, {3, 206}, {4, 307}}));
}

// Six pairs exchange messages that begin and end together: rates are solved once for all that begin, not for each.
TEST_F(FlowNetworkTest, RatesAreFoundOnceAnInstant)
{
  std::uint64_t message = 0;
  for (int from = 0; from < StarRoutes::HOSTS; ++from)
    for (const int distance : {1, 2})
      send(from, (from + distance) % StarRoutes::HOSTS, 50, message++);
  agenda_.run_until(Seconds(100));
  EXPECT_EQ(arrivals_.times.size(), 12U);
  EXPECT_EQ(arrivals_.times.at(0), 11);
  EXPECT_EQ(network_.work().solved, 1U);
}

TEST_F(FlowNetworkTest, FoldingChangesNoTime)
{
  std::mt19937 random(7);
  const auto below = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  for (int attempt = 0; attempt < 200; ++attempt) {
    Agenda unfolded_agenda;
    Arrivals unfolded(unfolded_agenda);
    FlowNetwork each(unfolded_agenda, ways_, StarRoutes::capacities(), StarRoutes::HOSTS, false);
    Agenda folded_agenda;
    Arrivals folded(folded_agenda);
    FlowNetwork together(folded_agenda, ways_, StarRoutes::capacities(), StarRoutes::HOSTS);
    double time = 0;
    for (std::uint64_t message = 0; message < 40; ++message) {
      if (below(3) == 0)
        time += below(4);
      const int from   = below(2);
      const int to     = below(StarRoutes::HOSTS);
      const Bytes size = Bytes(20.0 * (1 + below(2)));
      unfolded_agenda.run_until(Seconds(time));
      folded_agenda.run_until(Seconds(time));
      each.send(from, to, size, 1, unfolded, message);
      together.send(from, to, size, 1, folded, message);
    }
    unfolded_agenda.run_until(Seconds(1000));
    folded_agenda.run_until(Seconds(1000));
    ASSERT_EQ(unfolded.times.size(), 40U);
    for (const auto& [message, when] : unfolded.times)
      ASSERT_NEAR(folded.times.at(message), when, 1e-9 * when);
  }
}

struct Sent {
  int from;
  int to;
  double at;
  double left; // bytes
};

/** Returns the arrival times of messages, simulated without coalescing: all flows are solved at each event. */
std::map<std::uint64_t, double> simulate_naively(std::vector<Sent> messages)
{
  constexpr double NOTHING = 1e-9; // bytes
  std::map<std::uint64_t, double> arrived;
  double now = 0;
  while (arrived.size() < messages.size()) {
    std::vector<std::uint64_t> flowing;
    std::vector<SharingFlow> flows;
    double next = 1e30;
    for (std::uint64_t number = 0; number < messages.size(); ++number) {
      const Sent& one = messages[number];
      if (one.at + 1 > now) {
        next = std::min(next, one.at + 1); // the latency
      } else if (not arrived.contains(number)) {
        flowing.push_back(number);
        flows.emplace_back();
        flows.back().bound     = 10;
        flows.back().resources = {one.from, StarRoutes::HOSTS + one.to};
      }
    }
    std::vector<SharingFlow*> pointers;
    for (SharingFlow& flow : flows)
      pointers.push_back(&flow);
    FairShare(std::size_t{2} * StarRoutes::HOSTS).solve(pointers, StarRoutes::capacities());
    for (std::size_t flow = 0; flow < flows.size(); ++flow)
      next = std::min(next, now + messages[flowing[flow]].left / flows[flow].rate);
    for (std::size_t flow = 0; flow < flows.size(); ++flow) {
      Sent& one = messages[flowing[flow]];
      one.left -= flows[flow].rate * (next - now);
      if (one.left < NOTHING)
        arrived[flowing[flow]] = next;
    }
    now = next;
  }
  return arrived;
}

TEST_F(FlowNetworkTest, TimesAreThoseOfFullSolves)
{
  std::mt19937 random(11);
  const auto below = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  for (int attempt = 0; attempt < 200; ++attempt) {
    Agenda agenda;
    Arrivals arrivals(agenda);
    FlowNetwork network(agenda, ways_, StarRoutes::capacities(), StarRoutes::HOSTS);
    std::vector<Sent> messages;
    double time = 0;
    for (std::uint64_t number = 0; number < 50; ++number) {
      time += below(2) == 0 ? 0 : below(1000) / 100.0;
      const int from = below(StarRoutes::HOSTS);
      messages.push_back({from, (from + 1 + below(StarRoutes::HOSTS - 1)) % StarRoutes::HOSTS, time, 10.0 + below(90)});
      agenda.run_until(Seconds(time));
      network.send(from, messages.back().to, Bytes(messages.back().left), 1, arrivals, number);
    }
    agenda.run_until(Seconds(1e4));
    for (const auto& [number, when] : simulate_naively(messages))
      ASSERT_NEAR(arrivals.times.at(number), when, 1e-9 * when);
  }
}

/** Returns a flow over several links, rate-limited to @p bound, with the sharing penalty @p penalty. */
FlowRoute tree(std::vector<int> cables, double bytes, double bound = 10, double penalty = 1)
{
  FlowRoute way;
  way.resources = std::move(cables);
  way.latency   = 2;
  way.volume    = bytes;
  way.bound     = bound;
  way.penalty   = penalty;
  return way;
}

TEST_F(FlowNetworkTest, AFlowOverManyLinksStartsAtItsTimeAndTakesEachAsOftenAsItUsesIt)
{
  network_.start(tree({0, 1, 7, 8}, 40, 8), Seconds(3), arrivals_, 1);
  network_.start(tree({2, 9, 9}, 40), Seconds(3), arrivals_, 2);
  agenda_.run_until(Seconds(5));
  EXPECT_EQ(network_.load(7, Seconds(5)), 0);
  EXPECT_EQ(network_.load(7, Seconds(6)), 8);
  EXPECT_EQ(network_.load(9, Seconds(6)), 10);
  EXPECT_EQ(network_.load(3, Seconds(6)), 0);
  agenda_.run_until(Seconds(100));
  EXPECT_EQ(arrivals_.times, (std::map<std::uint64_t, double>{{1, 10}, {2, 13}}));
  EXPECT_EQ(network_.load(7, Seconds(100)), 0);
  EXPECT_FALSE(network_.flows_over(9));
  network_.start(tree({0}, 10), Seconds(100), arrivals_, 3); // reported like a flow that has ended
  agenda_.run_until(Seconds(200));
  EXPECT_EQ(arrivals_.times.at(3), 103);
}

TEST_F(FlowNetworkTest, AFlowOverManyLinksSharesThemWithMessages)
{
  network_.start(tree({0, 1, 2, 7}, 100, 10, 3), Seconds(0), arrivals_, 1); // a third of a message's weight
  send(0, 1, 60, 2);
  agenda_.run_until(Seconds(1000));
  // From 2 s, the message has 50 bytes left and 7.5 bytes per second.
  EXPECT_NEAR(arrivals_.times.at(2), 2 + 50 / 7.5, 1e-12);
  EXPECT_NEAR(arrivals_.times.at(1), 2 + 50 / 7.5 + (100 - 50 / 3.0) / 10, 1e-12);
}

/** Flow that is simulated naively: all flows are solved at each event. */
struct NaiveFlow {
  FlowRoute way;
  double at;
  double left; // bytes
};

std::vector<double> simulate_flows_naively(std::vector<NaiveFlow> all)
{
  constexpr double NOTHING = 1e-9; // bytes
  std::vector<double> ended(all.size(), -1);
  double now = 0;
  while (std::ranges::count(ended, -1) > 0) {
    std::vector<std::size_t> flowing;
    std::vector<SharingFlow> flows;
    double next = 1e30;
    for (std::size_t number = 0; number < all.size(); ++number) {
      const NaiveFlow& one = all[number];
      if (one.at + one.way.latency > now) {
        next = std::min(next, one.at + one.way.latency);
      } else if (ended[number] < 0) {
        flowing.push_back(number);
        flows.push_back({1 / one.way.penalty, one.way.bound, 1, one.way.resources});
      }
    }
    std::vector<SharingFlow*> pointers;
    for (SharingFlow& flow : flows)
      pointers.push_back(&flow);
    FairShare(std::size_t{2} * StarRoutes::HOSTS).solve(pointers, StarRoutes::capacities());
    for (std::size_t flow = 0; flow < flows.size(); ++flow)
      next = std::min(next, now + all[flowing[flow]].left / flows[flow].rate);
    for (std::size_t flow = 0; flow < flows.size(); ++flow) {
      NaiveFlow& one = all[flowing[flow]];
      one.left -= flows[flow].rate * (next - now);
      if (one.left < NOTHING)
        ended[flowing[flow]] = next;
    }
    now = next;
  }
  return ended;
}

TEST_F(FlowNetworkTest, TimesOfFlowsOverManyLinksAreThoseOfFullSolves)
{
  std::mt19937 random(13);
  const auto below = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  for (int attempt = 0; attempt < 300; ++attempt) {
    Agenda agenda;
    Arrivals arrivals(agenda);
    FlowNetwork network(agenda, ways_, StarRoutes::capacities(), StarRoutes::HOSTS);
    std::vector<NaiveFlow> flows;
    double time = 0;
    for (std::uint64_t number = 0; number < 30; ++number) {
      time += below(2) == 0 ? 0 : below(1000) / 100.0;
      agenda.run_until(Seconds(time));
      if (below(2) == 0) {
        std::vector<int> cables;
        for (int uses = 1 + below(10); uses > 0; --uses)
          cables.push_back(below(2 * StarRoutes::HOSTS));
        const FlowRoute way = tree(cables, 10.0 + below(90), 1.0 + below(10), 1.0 + below(3));
        flows.push_back({way, time, way.volume});
        network.start(way, Seconds(time), arrivals, number);
      } else {
        const int from = below(StarRoutes::HOSTS);
        const int to   = (from + 1 + below(StarRoutes::HOSTS - 1)) % StarRoutes::HOSTS;
        FlowRoute way  = tree({from, StarRoutes::HOSTS + to}, 10.0 + below(90));
        way.latency    = 1;
        flows.push_back({way, time, way.volume});
        network.send(from, to, Bytes(way.volume), 1, arrivals, number);
      }
    }
    agenda.run_until(Seconds(1e5));
    const std::vector<double> ended = simulate_flows_naively(flows);
    for (std::uint64_t number = 0; number < ended.size(); ++number)
      ASSERT_NEAR(arrivals.times.at(number), ended[number], 1e-9 * ended[number]);
  }
}

// ---- Resolution

TEST_F(FlowNetworkTest, AChangeThatWaitsTakesEffectAtItsTime)
{
  constexpr double RESOLUTION = 4;
  network_.set_resolution({Seconds(RESOLUTION)});
  send(0, 5, 100, 0); // alone from 1 s
  agenda_.run_until(Seconds(1));
  send(1, 5, 100, 1); // 5 bytes per second each from 2 s, applied at once
  agenda_.run_until(Seconds(3));
  send(2, 5, 100, 2); // 10/3 each from 4 s, applied at 6 s
  agenda_.run_until(Seconds(100));
  EXPECT_NEAR(arrivals_.times[0], 4 + 80 / (10. / 3), 1e-9);
  EXPECT_NEAR(arrivals_.times[1], 28 + 10. / 5, 1e-9);
  EXPECT_GE(arrivals_.times[2], 30 + 10. / 10 - 1e-9);
  EXPECT_LE(arrivals_.times[2], 31 + RESOLUTION);
  EXPECT_EQ(network_.work().longest, RESOLUTION);
  EXPECT_GE(network_.work().merged, 1U);
}

TEST_F(FlowNetworkTest, AShortMessageDoesNotWaitForTheNextUpdate)
{
  network_.set_resolution({Seconds(20)});
  send(0, 5, 100, 0);
  send(1, 5, 100, 1);
  agenda_.run_until(Seconds(2));
  send(2, 5, 10, 2); // a third of the link from 3 s, long before 21 s
  agenda_.run_until(Seconds(100));
  EXPECT_NEAR(arrivals_.times[2], 3 + 10 / (10. / 3), 1e-9);
}

/** Routes between hosts in groups of 8, each with 8 uplinks; the latency is 1 us. */
class RowRoutes : public MessageRoutes {
  const std::vector<int> none_;

public:
  static constexpr int HOSTS = 64;
  static constexpr int GROUP = 8;
  static std::vector<double> capacities() { return std::vector<double>(std::size_t{3} * HOSTS, 10e9); }
  void find(int from, int to, Bytes bytes, double /*missed*/, FlowRoute& into) override
  {
    into.latency   = 1e-6;
    into.volume    = bytes.value();
    into.bound     = 10e9;
    into.penalty   = 1e-6;
    into.resources = {from, 2 * HOSTS + from / GROUP * GROUP + to % GROUP, HOSTS + to};
  }
  const std::vector<int>* known_route(int /*from*/, int /*to*/) override { return &none_; }
};

/** Messages between random hosts at random times within 100 us, or of 100 kB in bursts: each host sends one every 300
 * ns over a random distance, the same for all hosts. */
class Row : public Due {
  Agenda agenda_;
  RowRoutes ways_;
  Arrivals arrivals_{agenda_};
  FlowNetwork network_{agenda_, ways_, RowRoutes::capacities(), RowRoutes::HOSTS};
  std::vector<std::pair<int, int>> ends_;
  std::vector<double> bytes_;

public:
  Row(unsigned seed, int messages, TimeResolution resolution, bool bursts = false)
  {
    network_.set_resolution(resolution);
    std::mt19937 random(seed);
    const auto below = [&random](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
    for (int message = 0, shift = 0; bursts && message < messages; ++message) {
      const int from = message % RowRoutes::HOSTS;
      if (from == 0)
        shift = 1 + below(RowRoutes::HOSTS - 1);
      ends_.emplace_back(from, (from + shift) % RowRoutes::HOSTS);
      bytes_.push_back(100000);
      agenda_.add(Seconds(message / RowRoutes::HOSTS * 300e-9 + below(50) * 1e-9), *this,
                  static_cast<std::uint64_t>(message));
    }
    for (int message = 0; not bursts && message < messages; ++message) {
      const int from = below(RowRoutes::HOSTS);
      ends_.emplace_back(from, (from + 1 + below(RowRoutes::HOSTS - 1)) % RowRoutes::HOSTS);
      bytes_.push_back(1 + below(below(2) == 0 ? 1000 : 200000));
      agenda_.add(Seconds(below(100000) * 1e-9), *this, static_cast<std::uint64_t>(message));
    }
  }
  void due(std::uint64_t message) override
  {
    network_.send(ends_[message].first, ends_[message].second, Bytes(bytes_[message]), 1, arrivals_, message);
  }
  const std::map<std::uint64_t, double>& run()
  {
    agenda_.run_until(Seconds(1));
    return arrivals_.times;
  }
  const FlowNetwork::Work& work() const { return network_.work(); }
};

constexpr TimeResolution AUTOMATIC{Seconds(0.4e-6), true};

TEST(FlowNetworkResolution, IsExactWhileFewFlowsShareLinks)
{
  Row exact(1, 400, {});
  Row automatic(1, 400, AUTOMATIC);
  EXPECT_EQ(exact.run(), automatic.run());
  EXPECT_EQ(automatic.work().merged, 0U);
}

TEST(FlowNetworkResolution, TakesOverWhileACrowdSharesLinks)
{
  constexpr int MESSAGES = 1500;
  for (const unsigned seed : {1U, 2U}) {
    Row exact(seed, MESSAGES, {}, true);
    Row automatic(seed, MESSAGES, AUTOMATIC, true);
    const auto& expected = exact.run();
    const auto& found    = automatic.run();
    ASSERT_EQ(found.size(), static_cast<std::size_t>(MESSAGES));
    double error = 0;
    double bias  = 0;
    double end   = 0;
    double last  = 0;
    for (const auto& [message, time] : expected) {
      const double difference = found.at(message) / time - 1;
      error += std::abs(difference);
      bias += difference;
      end  = std::max(end, time);
      last = std::max(last, found.at(message));
    }
    EXPECT_LT(error / MESSAGES, 0.01);
    EXPECT_LT(std::abs(bias) / MESSAGES, 0.005);
    EXPECT_NEAR(last, end, 0.01 * end);
    EXPECT_GT(automatic.work().merged, 0U);
    EXPECT_GT(automatic.work().crowd, UpdateSchedule::CROWD);
    EXPECT_LT(automatic.work().solved, exact.work().solved / 2);
    Row again(seed, MESSAGES, AUTOMATIC, true);
    EXPECT_EQ(again.run(), found);
  }
}

TEST(FlowNetworkResolution, MergesWhatIsWithinIt)
{
  constexpr int MESSAGES = 800;
  Row exact(7, MESSAGES, {});
  Row merged(7, MESSAGES, {Seconds(1e-6)});
  const auto& expected = exact.run();
  const auto& found    = merged.run();
  ASSERT_EQ(found.size(), static_cast<std::size_t>(MESSAGES));
  EXPECT_LT(merged.work().solved, exact.work().solved / 4);
  EXPECT_NEAR(std::ranges::max(found | std::views::values), std::ranges::max(expected | std::views::values), 2e-6);
}

} // namespace
} // namespace weft
