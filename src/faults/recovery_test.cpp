// SPDX-License-Identifier: LGPL-2.1-only
#include "faults/recovery.hpp"

#include "fabric/fabric_test.hpp"
#include "network/fabric_routes.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <string>
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

/** Hosts on a fat tree of two levels: two leaves of two hosts, two spines; 1 us a cable, switches without delay. */
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
  void set_link_at(double time, LinkId link, bool up)
  {
    actions_.at(time, [=, this] { recovery_.apply({{FabricChange::What::link, link, up}}); });
  }
  void set_switch_at(double time, int index, bool up)
  {
    actions_.at(time, [=, this] { recovery_.apply({{FabricChange::What::device, index, up}}); });
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

TEST_F(RecoveryTest, AMessageInItsLatencyWaitsFromItsStart)
{
  send_at(0, 0, 3, BYTES, 1);
  set_link_at(1e-6, route(0, 3).links[1], false);
  run();
  // Routing converges at 9 us; the fifth timeout is at 10 us.
  EXPECT_NEAR(arrivals_.times.at(1), 5 * TIMEOUT + LATENCY + BYTES / BANDWIDTH, 1e-15);
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
  const LinkId second = route(0, 2).links[1]; // to the other spine
  ASSERT_NE(first, second);
  send_at(0, 0, 3, BYTES, 1);
  set_link_at(10e-6, first, false);  // 14 us to go: 18 us + the latency on the other spine
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
  const LinkId last = route(0, 3).links.back(); // there is no other way
  const auto set_at = [&](double time, bool up) {
    actions_.at(time, [&, up] { doubling.apply({{FabricChange::What::link, last, up}}); });
  };
  send_at(0, 0, 3, BYTES, 1);
  set_at(10e-6, false); // 14 us to go
  set_at(11e-6, true);  // the message resumes after one timeout, at 12 us
  set_at(20e-6, false); // 10 us to go
  set_at(23e-6, true);  // after three, at 26 us
  set_at(35e-6, false); // 5 us to go
  set_at(43e-6, true);  // after seven, at 49 us
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
  actions_.at(12e-6, [this] { recovery_.apply({{FabricChange::What::bandwidth, route(0, 1).links[0], true, 0.25}}); });
  actions_.at(20e-6, [this] { recovery_.apply({{FabricChange::What::bandwidth, route(0, 1).links[0], true, 1.0}}); });
  run();
  EXPECT_NEAR(arrivals_.times.at(1), 20e-6 + (BYTES - 10000 - 2000) / BANDWIDTH, 1e-15);
}

constexpr double LOSS    = 0.2;
constexpr double PACKET  = 1000;
constexpr double GO_BACK = 4000;
constexpr double EFFORT  = (1 + 4 * LOSS) / (1 - LOSS); // LinkLosses: closed form of go-back-N

/** Returns the first seed with which the last packet of a message is lost so many times in a row. */
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

FabricChange loss_of(LinkId link, double probability)
{
  return {FabricChange::What::loss, link, false, 1, probability};
}

TEST_F(RecoveryTest, AMessageSendsLostPacketsAndWhatFollowedThemAgain)
{
  LinkLosses losses({Bytes(PACKET), Bytes(GO_BACK), seed_of(0)});
  network_.lose_packets(losses);
  actions_.at(0, [this] { recovery_.apply({loss_of(route(0, 3).links[1], LOSS)}); });
  send_at(1e-6, 0, 3, BYTES, 1);
  send_at(100e-6, 1, 0, BYTES, 2); // not over that link
  run();
  EXPECT_NEAR(arrivals_.times.at(1), 1e-6 + LATENCY + EFFORT * BYTES / BANDWIDTH, 1e-15);
  EXPECT_NEAR(arrivals_.times.at(2), 102e-6 + BYTES / BANDWIDTH, 1e-15);
}

TEST_F(RecoveryTest, ALinkLosesPacketsForAWhile)
{
  LinkLosses losses({Bytes(PACKET), Bytes(GO_BACK), 1});
  network_.lose_packets(losses);
  send_at(0, 0, 3, BYTES, 1);
  actions_.at(8e-6, [this] { recovery_.apply({loss_of(route(0, 3).links[1], LOSS)}); }); // 4,000 bytes have arrived
  actions_.at(17e-6, [this] { recovery_.apply({loss_of(route(0, 3).links[1], 0)}); });   // and 4,000 more: 9 us
  run();
  ASSERT_DOUBLE_EQ(EFFORT, 2.25);
  EXPECT_NEAR(arrivals_.times.at(1), 17e-6 + 12000 / BANDWIDTH, 1e-15);
}

TEST_F(RecoveryTest, TheLastPacketOfAMessageIsNoticedAtTheTimeout)
{
  constexpr int LOST = 2;
  LinkLosses losses({Bytes(PACKET), Bytes(GO_BACK), seed_of(LOST)});
  network_.lose_packets(losses);
  actions_.at(0, [this] { recovery_.apply({loss_of(route(0, 3).links[1], LOSS)}); });
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

TEST_F(RecoveryTest, ACancelledFlowLeavesItsShare)
{
  FlowRoute way;
  way.resources = route(0, 3).links;
  way.latency   = LATENCY;
  way.penalty   = LATENCY; // as of the message
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
