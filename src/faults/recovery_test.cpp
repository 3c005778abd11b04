// SPDX-License-Identifier: LGPL-2.1-only
#include "faults/recovery.hpp"

#include "fabric/fabric_test.hpp"
#include "network/fabric_routes.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft {
namespace {

constexpr double BANDWIDTH = 1e9; // bytes per second
constexpr double DETECTION = 3e-6;
constexpr double CONVERGES = 5e-6; // after detection
constexpr double TIMEOUT   = 2e-6;
constexpr int RETRIES      = 7;

class TimesAndFailures : public Receiving {
  const Agenda& agenda_;

public:
  std::map<std::uint64_t, double> times;
  std::map<std::uint64_t, std::string> failures;
  explicit TimesAndFailures(const Agenda& agenda) : agenda_(agenda) {}
  void arrived(std::uint64_t message) override { times[message] = agenda_.now().value(); }
  void failed(std::uint64_t message, const std::string& why) override { failures[message] = why; }
};

/** Runs functions at given times. */
class Actions : public Due {
  std::vector<std::function<void()>> all_;
  Agenda& agenda_;

public:
  explicit Actions(Agenda& agenda) : agenda_(agenda) {}
  void at(double time, std::function<void()> action)
  {
    all_.push_back(std::move(action));
    agenda_.add(Seconds(time), *this, all_.size() - 1);
  }
  void due(std::uint64_t what) override { all_[what](); }
};

/** Hosts on a two-level fat tree: two leaves of two hosts, two spines; 1 us per cable, switches without delay. */
class RecoveryTest : public ::testing::Test {
protected:
  Fabric fabric_ = fabric_of(
      replaced(replaced(FABRIC, "kind = \"star\"\nhosts = 4", "kind = \"fat_tree\"\ndown = [2, 2]\nup = [1, 2]"),
               "forwarding_latency = \"0.25us\"", "forwarding_latency = \"0us\""));
  FabricState actual_{fabric_};
  FabricState known_{fabric_};
  Agenda agenda_;
  FabricRoutes routes_{&known_};
  FlowNetwork network_{agenda_, routes_, FabricRoutes::capacities(fabric_),
                       fabric_.host_count() + fabric_.switch_count()};
  Recovery recovery_{
      agenda_, network_, actual_, known_, {Seconds(DETECTION), Seconds(CONVERGES), Seconds(TIMEOUT), RETRIES}};
  TimesAndFailures arrivals_{agenda_};
  Actions actions_{agenda_};

  Route route(VertexId from, VertexId to) const
  {
    Route found;
    fabric_.route(from, to, found);
    return found;
  }
  void send_at(double time, VertexId from, VertexId to, double bytes, std::uint64_t message)
  {
    actions_.at(time, [=, this] { network_.send(from, to, Bytes(bytes), 1, arrivals_, message); });
  }
  void set_link_at(double time, LinkId link, bool over)
  {
    actions_.at(time, [=, this] { recovery_.apply({{FabricChange::What::link, link, over}}); });
  }
  void set_switch_at(double time, int index, bool over)
  {
    actions_.at(time, [=, this] { recovery_.apply({{FabricChange::What::device, index, over}}); });
  }
  void run() { agenda_.run_until(Seconds(1)); }
};

constexpr double LATENCY = 4e-6;  // between leaves
constexpr double BYTES   = 20000; // 20 us

TEST_F(RecoveryTest, AMessageGoesOnAnotherWayAtTheFirstTimeoutAfterConvergence)
{
  send_at(0, 0, 3, BYTES, 1);
  constexpr double FAILS = 10e-6;
  set_link_at(FAILS, route(0, 3).links[1], false);
  run();
  constexpr double WAITS = 4 * TIMEOUT; // routing converges after 8 us
  EXPECT_NEAR(arrivals_.times.at(1), LATENCY + BYTES / BANDWIDTH + WAITS + LATENCY, 1e-15);
  EXPECT_EQ(recovery_.counts().cut, 1);
  EXPECT_EQ(recovery_.counts().resumed, 1);
  EXPECT_DOUBLE_EQ(recovery_.counts().waited_s, WAITS);
}

TEST_F(RecoveryTest, AMessageResumesOnALinkThatComesBackBeforeRoutingHasNoticed)
{
  send_at(0, 0, 3, BYTES, 1);
  set_link_at(10e-6, route(0, 3).links[1], false);
  set_link_at(13e-6, route(0, 3).links[1], true);
  run();
  EXPECT_NEAR(arrivals_.times.at(1), LATENCY + BYTES / BANDWIDTH + 2 * TIMEOUT + LATENCY, 1e-15);
}

TEST_F(RecoveryTest, AMessageInItsLatencyWaitsFromTheFault)
{
  send_at(0, 0, 3, BYTES, 1);
  set_link_at(1.5e-6, route(0, 3).links[1], false);
  run();
  // Routing converges at 9.5 us, at the fourth timeout.
  EXPECT_NEAR(arrivals_.times.at(1), 1.5e-6 + 4 * TIMEOUT + LATENCY + BYTES / BANDWIDTH, 1e-15);
}

TEST_F(RecoveryTest, NoTimeoutPassesBeforeAFault)
{
  // A message in its latency phase, which is longer than all timeouts of a sender.
  constexpr double SHORT = 0.1e-6;
  Recovery hasty{agenda_, network_, actual_, known_, {Seconds(), Seconds(), Seconds(SHORT), RETRIES, 2}};
  const LinkId last = route(0, 3).links.back(); // there is no alternative route
  const auto set_at = [&](double time, bool over) {
    actions_.at(time, [&, over] { hasty.apply({{FabricChange::What::link, last, over}}); });
  };
  send_at(0, 0, 3, BYTES, 1);
  set_at(3.75e-6, false);
  set_at(4e-6, true);    // the second timeout ends at 4.05 us
  set_at(7e-6, false);   // in the latency phase again
  set_at(7.5e-6, true);  // the third timeout ends at 7.7 us
  set_at(13e-6, false);  // 18.7 us to go
  set_at(13.5e-6, true); // the third timeout ends at 13.7 us
  run();
  EXPECT_NEAR(arrivals_.times.at(1), 13.7e-6 + LATENCY + 18.7e-6, 1e-15);
  EXPECT_NEAR(hasty.counts().waited_s, (3 + 7 + 7) * SHORT, 1e-15);
}

TEST_F(RecoveryTest, WhatStartsOnADeadLinkWaitsFromItsStart)
{
  const LinkId last = route(0, 3).links.back();
  set_link_at(0, last, false);
  send_at(1e-6, 0, 3, BYTES, 1);
  FlowRoute way; // of an offloaded call that uses the same cable later
  way.resources = {last};
  way.latency   = LATENCY;
  way.volume    = BYTES;
  way.bound     = BANDWIDTH;
  set_link_at(4e-6, last, true); // in the latency phase
  set_link_at(50e-6, last, false);
  actions_.at(51e-6, [this, &way] { network_.start(way, Seconds(51e-6), arrivals_, 2); });
  set_link_at(54e-6, last, true);
  run();
  EXPECT_NEAR(arrivals_.times.at(1), 1e-6 + 2 * TIMEOUT + LATENCY + BYTES / BANDWIDTH, 1e-15);
  EXPECT_NEAR(arrivals_.times.at(2), 51e-6 + 2 * TIMEOUT + LATENCY + BYTES / BANDWIDTH, 1e-15);
  EXPECT_NEAR(recovery_.counts().waited_s, 4 * TIMEOUT, 1e-15);
}

TEST_F(RecoveryTest, AHostThatIsNotReachedFromTheStartIsGivenUpAfterTheTimeouts)
{
  set_link_at(0, route(0, 3).links.back(), false);
  send_at(1e-6, 0, 3, BYTES, 1);
  run();
  EXPECT_NE(arrivals_.failures.at(1).find("host-0 cannot reach host-3 at 17us: 7 retries"), std::string::npos)
      << arrivals_.failures.at(1);
}

TEST_F(RecoveryTest, ALinkThatComesBackWhenAMessageStartsCarriesIt)
{
  const LinkId last = route(0, 3).links.back();
  set_link_at(0, last, false);
  send_at(5e-6, 0, 3, BYTES, 1);
  set_link_at(5e-6, last, true); // after the start, at the same instant
  run();
  EXPECT_NEAR(arrivals_.times.at(1), 5e-6 + LATENCY + BYTES / BANDWIDTH, 1e-15);
  EXPECT_EQ(recovery_.counts().cut, 0);
}

TEST_F(RecoveryTest, AFaultElsewhereDoesNotReachAMessageInItsLatency)
{
  set_link_at(0, route(1, 3).links.front(), false);
  send_at(1e-6, 0, 3, BYTES, 1);
  set_link_at(2e-6, route(2, 3).links.front(), false);
  run();
  EXPECT_NEAR(arrivals_.times.at(1), 1e-6 + LATENCY + BYTES / BANDWIDTH, 1e-15);
}

TEST_F(RecoveryTest, ALinkIsUpWhenItsLastFaultIsOver)
{
  const LinkId last = route(0, 3).links.back();
  send_at(0, 0, 3, BYTES, 1);
  set_link_at(10e-6, last, false); // 14 us to go
  set_link_at(11e-6, last, false);
  set_link_at(13e-6, last, true);
  set_link_at(17e-6, last, true);
  run();
  // Routing learns of the fault at 18 us, and of the repair at 25 us.
  EXPECT_NEAR(arrivals_.times.at(1), 26e-6 + LATENCY + 14e-6, 1e-15);
  EXPECT_EQ(recovery_.counts().cut, 1);
}

TEST_F(RecoveryTest, RoutingLearnsWhenTheLastFaultIsOver)
{
  const Route usual = route(0, 3);
  set_link_at(0, usual.links[1], false);
  set_link_at(1e-6, usual.links[1], false);
  set_link_at(2e-6, usual.links[1], true);
  set_link_at(30e-6, usual.links[1], true);
  for (const auto& [time, up] : {std::pair(7e-6, true), {9e-6, false}, {37e-6, false}, {39e-6, true}})
    actions_.at(time, [this, &usual, up] { EXPECT_EQ(known_.is_up(usual), up); });
  run();
  EXPECT_EQ(known_.epoch(), 2);
}

TEST_F(RecoveryTest, TheSlowestFaultOfALinkCounts)
{
  const LinkId first = route(0, 1).links[0];
  const auto slow_at = [&](double time, double factor, bool over) {
    actions_.at(time, [=, this] { recovery_.apply({{FabricChange::What::bandwidth, first, over, factor}}); });
  };
  send_at(0, 0, 1, BYTES, 1); // on one leaf: 2 us
  slow_at(2e-6, 0.25, false);
  slow_at(6e-6, 0.5, false);  // 19,000 bytes to go
  slow_at(10e-6, 0.25, true); // 18,000
  slow_at(20e-6, 0.5, true);  // 13,000
  run();
  EXPECT_NEAR(arrivals_.times.at(1), 33e-6, 1e-15);
}

TEST_F(RecoveryTest, AMessageSentBeforeConvergenceIsLostAndOneSentAfterwardsIsNot)
{
  set_link_at(0, route(0, 3).links[1], false);
  send_at(1e-6, 0, 3, BYTES, 1);
  send_at(40e-6, 0, 3, BYTES, 2);
  run();
  EXPECT_NEAR(arrivals_.times.at(1), 1e-6 + 4 * TIMEOUT + LATENCY + BYTES / BANDWIDTH, 1e-15);
  EXPECT_NEAR(arrivals_.times.at(2), 40e-6 + LATENCY + BYTES / BANDWIDTH, 1e-15);
}

TEST_F(RecoveryTest, AMessageIsCutTwice)
{
  const LinkId first  = route(0, 3).links[1];
  const LinkId second = route(0, 2).links[1]; // to the second spine
  ASSERT_NE(first, second);
  send_at(0, 0, 3, BYTES, 1);
  set_link_at(10e-6, first, false);  // 14 us to go: 18 us + the latency over the second spine
  set_link_at(25e-6, second, false); // 11 us to go
  set_link_at(26e-6, first, true);   // known at 34 us, five timeouts after 25 us
  run();
  EXPECT_NEAR(arrivals_.times.at(1), 35e-6 + LATENCY + 11e-6, 1e-15);
  EXPECT_EQ(recovery_.counts().cut, 2);
  EXPECT_EQ(recovery_.counts().resumed, 2);
}

TEST_F(RecoveryTest, EachTimeoutIsLongerByTheBackoff)
{
  const RecoveryModel model{Seconds(), Seconds(), Seconds(TIMEOUT), RETRIES, 2};
  Recovery doubling{agenda_, network_, actual_, known_, model};
  const LinkId last = route(0, 3).links.back(); // there is no alternative route
  const auto set_at = [&](double time, bool up) {
    actions_.at(time, [&, up] { doubling.apply({{FabricChange::What::link, last, up}}); });
  };
  send_at(0, 0, 3, BYTES, 1);
  set_at(10e-6, false); // 14 us to go
  set_at(11e-6, true);  // the message resumes after one timeout, at 12 us
  set_at(20e-6, false); // 10 us to go
  set_at(23e-6, true);  // after three timeouts, at 26 us
  set_at(35e-6, false); // 5 us to go
  set_at(43e-6, true);  // after seven timeouts, at 49 us
  run();
  EXPECT_NEAR(arrivals_.times.at(1), 49e-6 + LATENCY + 5e-6, 1e-15);
  EXPECT_NEAR(doubling.counts().waited_s, (1 + 3 + 7) * TIMEOUT, 1e-15);
  EXPECT_EQ(doubling.counts().resumed, 3);
  EXPECT_EQ(model.timeouts(), "7 retries after timeouts of 2us, each 2 times as long as the last");
}

TEST_F(RecoveryTest, AHostThatNothingReachesIsGivenUpWithItsName)
{
  send_at(0, 0, 3, BYTES, 1);
  set_link_at(10e-6, route(0, 3).links.back(), false);
  run();
  EXPECT_FALSE(arrivals_.times.contains(1));
  EXPECT_NE(arrivals_.failures.at(1).find(
                "host-0 cannot reach host-3 at 26us: 7 retries after timeouts of 2us each (link host-3.down is down)"),
            std::string::npos)
      << arrivals_.failures.at(1);
  EXPECT_EQ(recovery_.counts().given_up, 1);
}

TEST_F(RecoveryTest, ASwitchThatIsDownTakesItsLinksWithIt)
{
  send_at(0, 0, 3, BYTES, 1);
  const VertexId spine = route(0, 3).through[1];
  set_switch_at(10e-6, spine - fabric_.host_count(), false);
  run();
  EXPECT_NEAR(arrivals_.times.at(1), LATENCY + BYTES / BANDWIDTH + 8e-6 + LATENCY, 1e-15);
}

TEST_F(RecoveryTest, OthersGetTheShareOfACutFlowAtThatInstant)
{
  send_at(0, 0, 3, BYTES, 1);
  send_at(0, 1, 3, BYTES, 2); // they share the cable of host 3
  ASSERT_NE(route(0, 3).links[0], route(1, 3).links[0]);
  set_link_at(14e-6, route(0, 3).links[0], false); // each has sent 5,000 bytes
  set_link_at(100e-6, route(0, 3).links[0], true);
  run();
  EXPECT_NEAR(arrivals_.times.at(2), 14e-6 + 15000 / BANDWIDTH, 1e-15);
  EXPECT_EQ(recovery_.counts().given_up, 1); // 16 us after its cut, long before the repair
}

TEST_F(RecoveryTest, ASlowLinkHasThatPartOfItsBandwidth)
{
  send_at(0, 0, 1, BYTES, 1); // on one leaf: 2 us
  actions_.at(12e-6, [this] { recovery_.apply({{FabricChange::What::bandwidth, route(0, 1).links[0], false, 0.25}}); });
  actions_.at(20e-6, [this] { recovery_.apply({{FabricChange::What::bandwidth, route(0, 1).links[0], true, 0.25}}); });
  run();
  EXPECT_NEAR(arrivals_.times.at(1), 20e-6 + (BYTES - 10000 - 2000) / BANDWIDTH, 1e-15);
}

constexpr double LOSS    = 0.2;
constexpr double PACKET  = 1000;
constexpr double GO_BACK = 4000;
constexpr double EFFORT  = (1 + 4 * LOSS) / (1 - LOSS); // LinkLosses: closed form of go-back-N

/** Returns the first seed with which the last packet of a message is lost @p losses times in a row. */
std::uint64_t seed_of(int losses)
{
  for (std::uint64_t seed = 0;; ++seed) {
    LinkLosses draws({Bytes(PACKET), Bytes(GO_BACK), seed});
    int lost = 0;
    while (draws.draw() < LOSS)
      ++lost;
    if (lost == losses)
      return seed;
  }
}

FabricChange loss_of(LinkId link, bool over = false)
{
  return {FabricChange::What::loss, link, over, 1, LOSS};
}

TEST_F(RecoveryTest, AMessageSendsLostPacketsAndWhatFollowedThemAgain)
{
  LinkLosses losses({Bytes(PACKET), Bytes(GO_BACK), seed_of(0)});
  network_.lose_packets(losses);
  actions_.at(0, [this] { recovery_.apply({loss_of(route(0, 3).links[1])}); });
  send_at(1e-6, 0, 3, BYTES, 1);
  send_at(100e-6, 1, 0, BYTES, 2); // does not cross that link
  run();
  EXPECT_NEAR(arrivals_.times.at(1), 1e-6 + LATENCY + EFFORT * BYTES / BANDWIDTH, 1e-15);
  EXPECT_NEAR(arrivals_.times.at(2), 102e-6 + BYTES / BANDWIDTH, 1e-15);
}

TEST_F(RecoveryTest, ALinkLosesPacketsForAWhile)
{
  LinkLosses losses({Bytes(PACKET), Bytes(GO_BACK), 1});
  network_.lose_packets(losses);
  send_at(0, 0, 3, BYTES, 1);
  actions_.at(8e-6, [this] { recovery_.apply({loss_of(route(0, 3).links[1])}); });        // 4,000 bytes have arrived
  actions_.at(17e-6, [this] { recovery_.apply({loss_of(route(0, 3).links[1], true)}); }); // and 4,000 more in 9 us
  run();
  ASSERT_DOUBLE_EQ(EFFORT, 2.25);
  EXPECT_NEAR(arrivals_.times.at(1), 17e-6 + 12000 / BANDWIDTH, 1e-15);
}

TEST_F(RecoveryTest, TheLastPacketOfAMessageIsNoticedAtTheTimeout)
{
  constexpr int LOST = 2;
  LinkLosses losses({Bytes(PACKET), Bytes(GO_BACK), seed_of(LOST)});
  network_.lose_packets(losses);
  actions_.at(0, [this] { recovery_.apply({loss_of(route(0, 3).links[1])}); });
  send_at(1e-6, 0, 3, BYTES, 1);
  run();
  const double again = TIMEOUT + LATENCY + EFFORT * PACKET / BANDWIDTH;
  EXPECT_NEAR(arrivals_.times.at(1), 1e-6 + LATENCY + EFFORT * BYTES / BANDWIDTH + LOST * again, 1e-15);
  EXPECT_EQ(recovery_.counts().lost, LOST);
  EXPECT_EQ(recovery_.counts().resumed, LOST);
  EXPECT_EQ(recovery_.counts().cut, 0);
}

TEST_F(RecoveryTest, AFlowOfACallWaitsForItsLinks)
{
  FlowRoute way;
  way.resources = route(0, 3).links;
  way.latency   = LATENCY;
  way.volume    = BYTES;
  way.bound     = BANDWIDTH;
  network_.start(way, Seconds(0), arrivals_, 1);
  set_link_at(10e-6, route(0, 3).links[1], false);
  set_link_at(15e-6, route(0, 3).links[1], true);
  run();
  EXPECT_NEAR(arrivals_.times.at(1), LATENCY + BYTES / BANDWIDTH + 6e-6 + LATENCY, 1e-15);
}

/** Receiver of flows of data between two hosts. */
class BetweenHosts : public TimesAndFailures {
public:
  using TimesAndFailures::TimesAndFailures;
  std::optional<std::pair<int, int>> ends_of(std::uint64_t flow) const override { return std::pair(0, int(flow)); }
};

TEST_F(RecoveryTest, AFlowThatIsGivenUpNamesItsEndsIfItHasTwo)
{
  FlowRoute way;
  way.resources = route(0, 3).links;
  way.latency   = LATENCY;
  way.volume    = BYTES;
  way.bound     = BANDWIDTH;
  BetweenHosts file(agenda_);
  network_.start(way, Seconds(0), file, 3);
  network_.start(way, Seconds(0), arrivals_, 1);
  set_link_at(10e-6, route(0, 3).links.back(), false);
  run();
  EXPECT_TRUE(file.failures.at(3).starts_with("host-0 cannot reach host-3 at ")) << file.failures.at(3);
  EXPECT_TRUE(arrivals_.failures.at(1).starts_with("data cannot pass at ")) << arrivals_.failures.at(1);
}

TEST_F(RecoveryTest, ACancelledFlowLeavesItsShare)
{
  FlowRoute way;
  way.resources = route(0, 3).links;
  way.latency   = LATENCY;
  way.penalty   = LATENCY; // the same as the message's
  way.volume    = BYTES;
  way.bound     = BANDWIDTH;
  network_.start(way, Seconds(0), arrivals_, 1);
  send_at(0, 1, 3, BYTES, 2);
  actions_.at(14e-6, [this] { EXPECT_NEAR(network_.left(arrivals_, 1).value(), 0.75, 1e-12); });
  actions_.at(14e-6, [this] { EXPECT_NEAR(network_.cancel(arrivals_, 1).value(), 0.75, 1e-12); });
  run();
  EXPECT_FALSE(network_.left(arrivals_, 1));
  EXPECT_FALSE(arrivals_.times.contains(1));
  EXPECT_NEAR(arrivals_.times.at(2), 14e-6 + 15000 / BANDWIDTH, 1e-15);
}

} // namespace
} // namespace weft
