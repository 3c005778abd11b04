// SPDX-License-Identifier: LGPL-2.1-only
/* Calls whose packets links lose: closed forms, and the mean cost that streams assume. */
#include "packets/tree_resends.hpp"

#include "collective/in_network/stream.hpp"
#include "packets/packet_test.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace weft {
namespace {

constexpr double TIMEOUT_S  = 50e-6;
constexpr double CERTAIN    = 1 - 1e-15;
const std::string LOSSY     = "switching = 'store-and-forward'\nflow_control = 'none'\nretransmission_timeout = '50us'";
const std::string TWO_TIERS = "kind = \"fat_tree\"\ndown = [4, 4]\nup = [1, 2]";

/** Link that loses packets for some time. */
struct TestLoss {
  LinkId link        = 0;
  double probability = CERTAIN;
  double from        = 0; ///< seconds
  double to          = 1;
};

/** Allreduces on a network of packets that loses some. */
class LossyTree : public Due {
  const Fabric& fabric_;
  Agenda agenda_;
  FabricRoutes routes_{fabric_};
  FlowNetwork local_{agenda_, routes_, FabricRoutes::capacities(fabric_), fabric_.host_count()};
  PacketNetwork network_{agenda_, routes_, fabric_, local_};
  const FabricState known_{fabric_};
  LinkLosses losses_;
  std::vector<TestLoss> faults_;

public:
  std::vector<double> ends;

  LossyTree(const Fabric& fabric, std::vector<TestLoss> faults, std::uint64_t seed = 1)
      : fabric_(fabric), losses_({.packet = Bytes(100), .go_back = Bytes(), .seed = seed}), faults_(std::move(faults))
  {
    network_.begin_faults(known_, losses_);
    for (std::size_t fault = 0; fault < faults_.size(); ++fault) {
      agenda_.add(Seconds(faults_[fault].from), *this, 2 * fault);
      agenda_.add(Seconds(faults_[fault].to), *this, 2 * fault + 1);
    }
  }
  void due(std::uint64_t what) override
  {
    const TestLoss& fault    = faults_[what / 2];
    const double probability = what % 2 == 0 ? fault.probability : 0;
    losses_.set(fault.link, probability);
    network_.set_loss(fault.link, probability);
  }
  void start(const StreamPlan& plan)
  {
    ends.push_back(-1);
    network_.start(*plan.packets, Seconds(), Seconds(), 0,
                   [this, number = ends.size() - 1] { ends[number] = agenda_.now().value(); });
  }
  void run() { run_to_end(agenda_); }
  Agenda& agenda() { return agenda_; }
  PacketNetwork& network() { return network_; }
  const PacketWork& work() const { return network_.work(); }
};

StreamPlan plan_of(const Fabric& fabric, int hosts, double bytes, Seconds stall = {})
{
  std::vector<VertexId> members;
  for (VertexId host = 0; host < hosts; ++host)
    members.push_back(host);
  const ReductionTree tree = *build_reduction_tree(fabric, members, 0).tree;
  TreeCall call{Movement::allreduce, Bytes(bytes), -1, {}};
  call.stall = stall;
  return plan_streams(fabric, tree, call, fabric.nic().offload_copy_rate);
}

double time_of(const Fabric& fabric, const StreamPlan& plan, const std::vector<TestLoss>& faults)
{
  LossyTree run(fabric, faults);
  run.start(plan);
  run.run();
  return run.ends.front();
}

Fabric two_tiers(const std::string& keys)
{
  return fabric_of(replaced(FABRIC, "kind = \"star\"\nhosts = 4", TWO_TIERS) + "[network]\nmodel = \"packets\"\n" +
                   keys + "\n");
}

/** Returns the link from a member to its switch. */
LinkId up_from(const StreamPlan& plan, std::size_t member)
{
  return plan.packets->members[member].links.front();
}

constexpr double COMBINING = 3e-6 - 0.25e-6; // beyond the latency of forwarding

TEST(TreeResends, ALostContributionIsSentAgainAfterATimeout)
{
  const Fabric fabric   = packet_star(4, LOSSY);
  const StreamPlan plan = plan_of(fabric, 4, 100);
  const double lost     = time_of(fabric, plan, {{.link = up_from(plan, 0), .to = TIMEOUT_S}});
  EXPECT_NEAR(lost, time_of(fabric, plan, {}) + TIMEOUT_S, 1e-12);
}

// The switch has combined the packet, and answers at once.
TEST(TreeResends, ALostResultIsSentAgainToItsMemberAlone)
{
  const Fabric fabric   = packet_star(4, LOSSY);
  const StreamPlan plan = plan_of(fabric, 4, 100);
  LossyTree run(fabric, {{.link = reverse(up_from(plan, 1)), .to = TIMEOUT_S}});
  run.start(plan);
  run.run();
  EXPECT_NEAR(run.ends.front(), time_of(fabric, plan, {}) + TIMEOUT_S - COMBINING, 1e-12);
  EXPECT_EQ(run.work().packets, 4U + 4 + 2);
  EXPECT_EQ(run.work().sent_again, 1U);
}

// A leaf switch sends the result of its members again when one of them asks, whether it was lost or the root's answer.
TEST(TreeResends, SwitchesSendTheirResultsAgain)
{
  const Fabric fabric   = two_tiers(LOSSY);
  const StreamPlan plan = plan_of(fabric, 16, 100);
  const double idle     = time_of(fabric, plan, {});
  const LinkId up       = plan.packets->switches[1].edge.links.front();
  EXPECT_NEAR(time_of(fabric, plan, {{.link = up, .to = TIMEOUT_S}}), idle + TIMEOUT_S - COMBINING, 1e-12);
  EXPECT_NEAR(time_of(fabric, plan, {{.link = reverse(up), .to = TIMEOUT_S}}), idle + TIMEOUT_S - 2 * COMBINING, 1e-12);
}

// Four slots, 16 packets, of which the second is lost: only its slot waits, whose last packet is the last but two. Its
// timeout began while the first packet was on the link.
TEST(TreeResends, OtherSlotsGoOn)
{
  constexpr double PACKET_S = 125e-9;
  const Fabric fabric       = packet_star(4, LOSSY);
  const StreamPlan plan     = plan_of(fabric, 4, 1600);
  const double arrives      = plan.packets->delay.value() + 2 * PACKET_S + 1.25e-6;
  const double lost =
      time_of(fabric, plan, {{.link = up_from(plan, 2), .from = arrives - PACKET_S / 2, .to = arrives + PACKET_S / 2}});
  EXPECT_NEAR(lost, time_of(fabric, plan, {}) - 2 * PACKET_S + TIMEOUT_S - PACKET_S, 1e-12);
}

// Streams assume the mean delay of a slot. The slowest of four slots exceeds it by less, the longer the call.
TEST(TreeResends, LossesCostLongCallsWhatStreamsAssume)
{
  const Fabric fabric    = two_tiers(LOSSY);
  constexpr double LOSS  = 5e-4;
  constexpr double LINKS = 2 * (16 + 4);
  const double hit       = 1 - std::pow(1 - LOSS, LINKS);
  std::vector<TestLoss> losses;
  for (LinkId link = 0; std::cmp_less(link, fabric.links().size()); ++link)
    losses.push_back({.link = link, .probability = LOSS, .to = 1e3});
  const auto ratio = [&](double packets) {
    const StreamPlan plan  = plan_of(fabric, 16, 100 * packets);
    const StreamPlan stall = plan_of(fabric, 16, 100 * packets, Seconds(TIMEOUT_S) * (hit / (1 - hit)));
    return (time_of(fabric, plan, losses) - time_of(fabric, plan, {})) / (stall.duration() - plan.duration()).value();
  };
  EXPECT_NEAR(ratio(400), 1.7, 0.5);
  EXPECT_NEAR(ratio(4000), 1.1, 0.1);
  EXPECT_NEAR(ratio(20000), 1, 0.05);
}

// Calls and messages that fill the queues of a switch: both end, and packets of both are dropped.
TEST(TreeResends, FullQueuesDropPacketsOfCalls)
{
  for (const std::string overflow : {"drop", "trim"}) {
    std::string text = replaced(FABRIC, "slots = 4", "slots = 256");
    text             = replaced(text, "kind = \"star\"\nhosts = 4", TWO_TIERS);
    const Fabric fabric =
        fabric_of(text + "[network]\nmodel = \"packets\"\nflow_control = \"none\"\noverflow = \"" + overflow +
                  "\"\npacket = \"2000B\"\nbuffer = \"20kB\"\nretransmission_timeout = \"1ms\"\n");
    const StreamPlan plan = plan_of(fabric, 16, 1e5);
    LossyTree run(fabric, {});
    TestArrivals arrivals(run.agenda());
    std::vector<TestMessage> messages;
    for (int from = 1; from < 16; ++from)
      messages.push_back({.from = from, .to = 0, .bytes = 1e5});
    const TestSenders senders(run.agenda(), run.network(), messages, arrivals);
    run.start(plan);
    run.run();
    EXPECT_GT(run.ends.front(), time_of(fabric, plan, {}));
    EXPECT_EQ(arrivals.times.size(), messages.size());
    EXPECT_GT(run.work().dropped, 0U);
  }
}

} // namespace
} // namespace weft
